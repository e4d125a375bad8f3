import { type Field, field, type MessageSpec } from "../../protobuf/index.js";
import {
  BSR_REF,
  BSR_REFS,
  INCLUDE_SCHEMAS,
  INLINE_SCHEMA,
  inputRequestFields,
  inputResponseFields,
  metadata,
  modernResultFields,
  twinned,
} from "../fields.js";

const added = true;

/** One of the sources of a schema, which exclude each other. */
const source = (kind: "string" | "octets", member: string, name: string, number: number): Field =>
  field(kind, member, number, { name, lift: true, oneof: "schema_source" });

export const tools: readonly MessageSpec[] = [
  {
    name: "ListToolsRequest",
    stands: "params of `tools/list`",
    fields: [
      field("strings", BSR_REFS, 1, { name: "bsr_refs", lift: true }),
      field("bool", INCLUDE_SCHEMAS, 2, { name: "include_schemas", lift: true }),
      field("string", "cursor", 3),
      metadata(100),
    ],
  },
  {
    name: "ListToolsResponse",
    stands: "result of `tools/list`",
    fields: [
      field("messages", "tools", 1, { of: "Tool", initial: [] }),
      field("string", "nextCursor", 2),
      metadata(100),
      ...modernResultFields(101),
    ],
  },
  {
    name: "Tool",
    stands: "an element of `tools`",
    fields: [
      field("string", "name", 1, { initial: "" }),
      field("string", "description", 2),
      source("string", BSR_REF, "bsr_ref", 3),
      source("octets", INLINE_SCHEMA, "inline_schema", 4),
      metadata(5),
      field("string", "title", 100, { added }),
      twinned("struct", "inputSchema", 101, { initial: { type: "object" }, added }),
      twinned("struct", "outputSchema", 102, { added }),
      twinned("struct", "annotations", 103, { added }),
    ],
  },
  {
    name: "CallToolRequest",
    stands: "params of `tools/call`",
    fields: [field("string", "name", 1, { initial: "" }), twinned("typed", "arguments", 2), metadata(3), ...inputResponseFields(100, 101)],
  },
  {
    name: "CallToolResponse",
    stands: "result of `tools/call`: its `_meta`, and all else as `success` or `error`",
    fields: [
      field("message", "success", 1, { of: "ToolResult", oneof: "result" }),
      field("message", "error", 2, { of: "Error", oneof: "result" }),
      metadata(3),
    ],
  },
  {
    name: "ToolResult",
    stands: "result of `tools/call` without its `_meta`",
    fields: [
      field("messages", "content", 1, { of: "ToolContent", initial: [] }),
      field("bool", "isError", 2),
      twinned("value", "structuredContent", 100, { added }),
      field("string", "resultType", 101, { added }),
      ...inputRequestFields(102, 103),
    ],
  },
  {
    name: "Error",
    stands: "`buf.mcp.v1/error` in the `_meta` of a result with `isError`",
    fields: [field("int32", "code", 1, { initial: 0 }), field("string", "message", 2, { initial: "" }), field("map", "data", 3)],
  },
  {
    name: "ToolContent",
    stands: "a content block: of type `text` as `text`, of type `image` as `image`",
    fields: [
      field("string", "text", 1, { oneof: "content" }),
      field("bytes", "image", 2, { oneof: "content" }),
      field("typed", "data", 3, { oneof: "content" }),
      twinned("struct", "block", 103, { oneof: "content", added }),
      field("string", "mimeType", 4),
      twinned("struct", "annotations", 101, { added }),
      twinned("struct", "_meta", 102, { name: "meta", added }),
    ],
  },
];
