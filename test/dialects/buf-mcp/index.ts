import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { type Field, type FieldOptions, field, type MessageSpec } from "../../../src/codec/protobuf/index.js";
import type { Described } from "../described.js";

const required = (member: string, number: number): Field => field("string", member, number, { initial: "" });
const oneof = (name: string, options: FieldOptions = {}): FieldOptions => ({ ...options, oneof: name });
const payload = (member: string, number: number, of: string): Field => field("message", member, number, oneof("payload", { of }));

/** The shapes of `buf.mcp.v1`: what its tables have to be able to say. */
const messages: readonly MessageSpec[] = [
  {
    name: "MCPMessage",
    stands: "a message",
    fields: [
      field("uint64", "id", 1, { initial: 0 }),
      payload("initializeRequest", 2, "InitializeRequest"),
      payload("listToolsResponse", 5, "ListToolsResponse"),
      payload("callToolRequest", 6, "CallToolRequest"),
      payload("callToolResponse", 7, "CallToolResponse"),
      payload("readResourceResponse", 11, "ReadResourceResponse"),
      payload("errorResponse", 12, "ErrorResponse"),
      payload("progressNotification", 100, "ProgressNotification"),
    ],
  },
  {
    name: "InitializeRequest",
    stands: "params of `initialize`",
    fields: [
      required("protocolVersion", 1),
      field("message", "capabilities", 2, { of: "ClientCapabilities" }),
      field("map", "metadata", 3),
    ],
  },
  {
    name: "ClientCapabilities",
    stands: "what a client can do",
    fields: [
      field("bool", "supportsBsrRefs", 1, { initial: false }),
      field("bool", "supportsStreaming", 2, { initial: false }),
      field("strings", "encodings", 3, { initial: [] }),
      field("map", "experimental", 4, { values: "bool" }),
    ],
  },
  {
    name: "ListToolsResponse",
    stands: "a page of tools",
    fields: [field("messages", "tools", 1, { of: "Tool", initial: [] }), required("nextCursor", 2)],
  },
  {
    name: "Tool",
    stands: "a tool",
    fields: [
      required("name", 1),
      required("description", 2),
      field("string", "bsrRef", 3, oneof("schema_source")),
      field("bytes", "inlineSchema", 4, oneof("schema_source")),
      field("map", "metadata", 5),
    ],
  },
  {
    name: "CallToolRequest",
    stands: "params of `tools/call`",
    fields: [required("name", 1), field("packed", "arguments", 2), field("map", "metadata", 3)],
  },
  {
    name: "CallToolResponse",
    stands: "result of `tools/call`",
    fields: [
      field("message", "success", 1, oneof("result", { of: "ToolResult" })),
      field("message", "error", 2, oneof("result", { of: "Error" })),
      field("map", "metadata", 3),
    ],
  },
  {
    name: "ToolResult",
    stands: "what a tool gave",
    fields: [field("messages", "content", 1, { of: "ToolContent", initial: [] }), field("bool", "isError", 2, { initial: false })],
  },
  {
    name: "ToolContent",
    stands: "a content",
    fields: [
      field("string", "text", 1, oneof("content")),
      field("octets", "image", 2, oneof("content")),
      field("packed", "data", 3, oneof("content")),
      required("mimeType", 4),
    ],
  },
  {
    name: "ReadResourceResponse",
    stands: "result of `resources/read`",
    fields: [field("messages", "contents", 1, { of: "ResourceContent", initial: [] })],
  },
  {
    name: "ResourceContent",
    stands: "a content of a resource",
    fields: [
      required("uri", 1),
      required("mimeType", 2),
      field("string", "text", 3, oneof("content")),
      field("octets", "blob", 4, oneof("content")),
    ],
  },
  {
    name: "ErrorResponse",
    stands: "an error",
    fields: [field("int32", "code", 1, { initial: 0 }), required("message", 2), field("struct", "data", 3)],
  },
  {
    name: "Error",
    stands: "an error of a tool",
    fields: [field("int32", "code", 1, { initial: 0 }), required("message", 2), field("map", "data", 3)],
  },
  { name: "ProgressNotification", stands: "a payload that was added", fields: [field("double", "progress", 1, { initial: 0 })] },
];

/** The bytes of a FileDescriptorSet, which the table does not look into. */
const inlineSchema = fc
  .string({ minLength: 1, maxLength: 8 })
  .map((name) => toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [{ name }] })));

export const bufMcp: Described = { name: "buf.mcp.v1", messages, proto: "test/dialects/buf-mcp", samples: { inlineSchema } };
