import { type Field, type FieldOptions, field, type Kind } from "../protobuf/index.js";

// The numbers of what Anywire added to buf.mcp.v1, and the fields that many of its messages have.

/** The first number of what was added, and what the number of a twin is more than its field's. */
export const ADDED = 100;
export const OTHER_MEMBERS = 1000;

/** Keys of `_meta` for what proto-mcp has and MCP has not. */
export const BSR_REF = "buf.mcp.v1/bsr_ref";
export const INLINE_SCHEMA = "buf.mcp.v1/inline_schema";
export const BSR_REFS = "buf.mcp.v1/bsr_refs";
export const INCLUDE_SCHEMAS = "buf.mcp.v1/include_schemas";
/** What a server's own capabilities, or a client's, are on the wire. */
export const CAPABILITIES = "buf.mcp.v1/capabilities";
/** The `Error` that a tool failed with. */
export const TOOL_ERROR = "buf.mcp.v1/error";

/** A field with a twin. */
export function twinned(kind: Kind, member: string, number: number, options: FieldOptions = {}): Field {
  return field(kind, member, number, { twin: number + ADDED, ...options });
}

/** `_meta`: strings alone as the map, anything else as JSON. */
export const metadata = (number: number, options: FieldOptions = {}): Field =>
  twinned("map", "_meta", number, { name: "metadata", ...(number >= ADDED ? { added: true } : undefined), ...options });

/** What a request brings that was asked to come again. */
export const answers = (state: number, responses: number): readonly Field[] => [
  field("string", "requestState", state, { added: true }),
  twinned("struct", "inputResponses", responses, { added: true }),
];

/** What a result says that asks for more. */
export const asks = (state: number, requests: number): readonly Field[] => [
  field("string", "requestState", state, { added: true }),
  twinned("struct", "inputRequests", requests, { added: true }),
];

/** What modern results have. */
export const modern = (type: number): readonly Field[] => [
  field("string", "resultType", type, { added: true }),
  field("int64", "ttlMs", type + 1, { added: true }),
  field("string", "cacheScope", type + 2, { added: true }),
];
