/**
 * Makes wires of links, of either era. Unstable: what is exported here may change in any release, also in a minor one.
 *
 * @module
 */

export { type AnsweredCall, hasRoom, type Link, type LinkTraits, type SendOptions, sharedStream } from "../codec/index.js";
export { type ConnectionLease, type Connections, type ConnectionsOptions, connections, type WantedConnection } from "./connections.js";
export { dialLink } from "./dial/dial-link.js";
export { discovered } from "./dial/legacy.js";
export { LegacyState } from "./dial/legacy-state.js";
export { listens } from "./dial/link-state.js";
export { isForGood, isOtherEra } from "./dial/loss.js";
export { newsOfListen, newsOfSession } from "./dial/news.js";
export { GIVEN_UP_MS, mayAsk } from "./dial/presence.js";
export { type RenewingLink, renewing } from "./dial/renewing-link.js";
export { anywireKeys } from "./keys.js";
export { ClientPings } from "./listen/client-pings.js";
export { KnownCallers } from "./listen/known-callers.js";
export type { ServeLinkOptions } from "./listen/options.js";
export { Parking } from "./listen/parking.js";
export { serveLink, serving } from "./listen/serve-link.js";
export { ServedLinks } from "./listen/served-links.js";
export type { Serving } from "./listen/serving.js";
export { idleCaller, type SessionLimits, SessionTable, type TableSession } from "./listen/session-table.js";
export { randomToken } from "./seal.js";
export { observedAs } from "./watch/link-watch.js";
export { awayStatuses } from "./watch/reach.js";
