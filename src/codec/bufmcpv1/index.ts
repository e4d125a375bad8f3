/**
 * Messages of proto-mcp, `buf.mcp.v1`. Unstable: what is exported here may change in any release, also in a minor one.
 *
 * @module
 */

export { MessageCodec, PROBE, probed } from "./codec.js";
export { MESSAGE_MIME_TYPE, MESSAGE_URI, messageBlock, packedIn } from "./content.js";
export { ENCODINGS, loadProtoJson, type ProtoEncoding, protoJsonIn } from "./encodings.js";
export { BSR_REF, BSR_REFS, CAPABILITIES, INCLUDE_SCHEMAS, INLINE_SCHEMA, TOOL_ERROR, VALIDATION_FAILED } from "./fields.js";
export { UNSUPPORTED_VERSION, VERSION } from "./handshake.js";
export type { ProtoJson } from "./proto-json.js";
export { payloadIn, type UnaryPayload, withPayload } from "./unary.js";
