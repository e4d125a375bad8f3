export { type AnsweredCall, type Link, type LinkTraits, type SendOptions, sharedStream } from "../codec/index.js";
export { dialLink } from "./dial/dial-link.js";
export { own } from "./keys.js";
export { KnownCallers } from "./listen/known-callers.js";
export type { ServeLinkOptions } from "./listen/options.js";
export { Parking } from "./listen/parking.js";
export { serveLink, serving } from "./listen/serve-link.js";
export type { Serving } from "./listen/serving.js";
export { randomToken } from "./seal.js";
