/**
 * Messages of `mcp.v1`. Unstable: what is exported here may change in any release, also in a minor one.
 *
 * @module
 */

export { type DecodeLimits, type EncodeOptions, isText } from "../protobuf/index.js";
export { wellFormed } from "./base.js";
export { isForBase } from "./base-parts.js";
export type { RestPart } from "./items.js";
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
export { COMPLETED, PROMPT_COMPLETION, WATCH, WATCHED } from "./session-tables.js";
export { decodeToClient, encodeChunkHead, encodePart, encodeToClient, type ToClientLimits, type ToClientOptions } from "./to-client.js";
export { decodeToServer, encodeToServer } from "./to-server.js";
