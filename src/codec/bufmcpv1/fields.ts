import { protoMcpCodes } from "../../core/index.js";
import { type Field, type FieldOptions, field, type Kind } from "../protobuf/index.js";

// Field numbers of Anywire's additions to buf.mcp.v1, and the fields that many of its messages have.

/** The first number of an addition. Also the difference between the number of a field and that of its twin. */
export const ADDED = 100;
export const OTHER_MEMBERS = 1000;

/** Keys of `_meta` for what proto-mcp has and MCP lacks. */
export const BSR_REF = "buf.mcp.v1/bsr_ref";
export const INLINE_SCHEMA = "buf.mcp.v1/inline_schema";
export const BSR_REFS = "buf.mcp.v1/bsr_refs";
export const INCLUDE_SCHEMAS = "buf.mcp.v1/include_schemas";
/** The capabilities of a server or client in proto-mcp's form. */
export const CAPABILITIES = "buf.mcp.v1/capabilities";
/** The `Error` that a tool failed with. */
export const TOOL_ERROR = "buf.mcp.v1/error";
/** The JSON-RPC code for arguments that violate their schema. */
export const VALIDATION_FAILED: number = protoMcpCodes.invalidArguments;

/** A field with a twin. */
export function twinned(kind: Kind, member: string, number: number, options: FieldOptions = {}): Field {
  return field(kind, member, number, { twin: number + ADDED, ...options });
}

/** `_meta`: in the map if it has only strings, otherwise as JSON. */
export const metadata = (number: number, options: FieldOptions = {}): Field =>
  twinned("map", "_meta", number, { name: "metadata", ...(number >= ADDED ? { added: true } : undefined), ...options });

/** The fields of a request that was asked to come again. */
export const inputResponseFields = (state: number, responses: number): readonly Field[] => [
  field("string", "requestState", state, { added: true }),
  twinned("struct", "inputResponses", responses, { added: true }),
];

/** The fields of a result that asks for input. */
export const inputRequestFields = (state: number, requests: number): readonly Field[] => [
  field("string", "requestState", state, { added: true }),
  twinned("struct", "inputRequests", requests, { added: true }),
];

/** The fields of modern results. */
export const modernResultFields = (type: number): readonly Field[] => [
  field("string", "resultType", type, { added: true }),
  field("int64", "ttlMs", type + 1, { added: true }),
  field("string", "cacheScope", type + 2, { added: true }),
];
