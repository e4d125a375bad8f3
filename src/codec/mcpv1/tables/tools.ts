import { type Field, field, type MessageSpec } from "../../protobuf/index.js";
import { anyMeta, requestMeta, retryFields, withTwin } from "../fields.js";

const added = true;

const result: readonly Field[] = [
  field("messages", "content", 1, { of: "Content", initial: [] }),
  field("bool", "isError", 2),
  withTwin("value", "structuredContent", 3, { added }),
  field("string", "resultType", 4, { added }),
  withTwin("struct", "inputRequests", 5, { added }),
  field("string", "requestState", 6, { added }),
  anyMeta(7),
  withTwin("struct", "task", 8, { added }),
];

export const toolMessages: readonly MessageSpec[] = [
  {
    name: "Tool",
    stands: "an element of `toolMessages`",
    fields: [
      field("string", "name", 1, { initial: "" }),
      field("string", "description", 2),
      withTwin("struct", "inputSchema", 3, { initial: { type: "object" } }),
      field("message", "annotations", 4, { of: "ToolAnnotations" }),
      field("string", "title", 5, { added }),
      field("messages", "icons", 6, { of: "Icon", added }),
      withTwin("struct", "outputSchema", 7, { added }),
      field("message", "execution", 8, { of: "ToolExecution", added }),
      anyMeta(9),
    ],
  },
  {
    name: "ToolAnnotations",
    stands: "`annotations` of a tool",
    fields: [
      field("string", "title", 1),
      field("bool", "readOnlyHint", 2),
      field("bool", "destructiveHint", 3),
      field("bool", "idempotentHint", 4),
      field("bool", "openWorldHint", 5),
    ],
  },
  { name: "ToolExecution", stands: "`execution` of a tool", fields: [field("string", "taskSupport", 1, { added })] },
  {
    name: "CallToolRequest",
    stands: "params of `tools/call`",
    fields: [
      field("string", "name", 1, { initial: "" }),
      withTwin("struct", "arguments", 2),
      requestMeta(3),
      ...retryFields(4),
      withTwin("struct", "task", 6, { added }),
    ],
  },
  { name: "CallToolResponse", stands: "result of `tools/call`", fields: result },
  { name: "ToolResult", stands: "result of `tools/call`", fields: result },
  {
    name: "CallToolWithProgressRequest",
    stands: "params of `tools/call`",
    fields: [
      field("string", "name", 1, { initial: "" }),
      withTwin("struct", "arguments", 2),
      field("token", "progressToken", 3, { of: "ProgressToken", lift: true }),
      requestMeta(4),
      ...retryFields(5),
      withTwin("struct", "task", 7, { added }),
    ],
  },
  {
    name: "CallToolWithProgressResponse",
    stands: "params of `notifications/progress` as `progress`, the result as `result`, the error as `error`",
    fields: [
      field("message", "progress", 1, { of: "ProgressNotification", oneof: "update" }),
      field("message", "result", 2, { of: "ToolResult", oneof: "update" }),
      field("message", "error", 3, { of: "StreamError", oneof: "update" }),
    ],
  },
  {
    name: "StreamToolCallsRequest",
    stands: "`{ requestId, params }`: params of `tools/call`, with request_id#1 beside them",
    fields: [
      field("string", "name", 2, { initial: "" }),
      withTwin("struct", "arguments", 3),
      requestMeta(4, {}),
      ...retryFields(5),
      withTwin("struct", "task", 7, { added }),
    ],
  },
  {
    name: "StreamToolCallsResponse",
    stands: "`requestId` with the result as `success` or the error as `error`",
    fields: [
      field("string", "requestId", 1, { initial: "" }),
      field("message", "success", 2, { of: "ToolResult", oneof: "result" }),
      field("message", "error", 3, { of: "StreamError", oneof: "result" }),
    ],
  },
  {
    name: "ProgressNotification",
    stands: "params of `notifications/progress`",
    fields: [
      field("token", "progressToken", 1, { of: "ProgressToken" }),
      field("double", "progress", 2, { initial: 0 }),
      field("double", "total", 3),
      field("string", "message", 4),
      anyMeta(5),
    ],
  },
];
