export { wellFormed } from "./base.js";
export { isForBase } from "./base-parts.js";
export type { EncodeOptions } from "./encode.js";
export type { RestPart } from "./items.js";
export type { DecodeLimits } from "./limits.js";
export {
  decodeMessage,
  decodePartMessage,
  encodeChunkMessageHead,
  encodeMessage,
  encodePartMessage,
  encodeRest,
  type MessageName,
} from "./message.js";
export { decodeNote, encodeErrorNote, encodeNote, type Note } from "./notes.js";
export { type PartState, partState } from "./parts.js";
export { isText } from "./text.js";
export { decodeToClient, encodeChunkHead, encodePart, encodeToClient, type ToClientLimits, type ToClientOptions } from "./to-client.js";
export { decodeToServer, encodeToServer } from "./to-server.js";
