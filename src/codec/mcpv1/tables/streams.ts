import { type Field, field, type MessageSpec } from "../../protobuf/index.js";
import { anyMeta, requestMeta, withTwin } from "../fields.js";

const added = true;

const list: readonly Field[] = [
  field("int32", "dev.anywire/page-size", 1, { name: "page_size_hint", lift: true }),
  requestMeta(2, {}),
  field("string", "cursor", 3, { added }),
];

const error: readonly Field[] = [
  field("int32", "code", 1, { initial: 0 }),
  field("string", "message", 2, { initial: "" }),
  withTwin("any", "data", 3),
];

export const streams: readonly MessageSpec[] = [
  { name: "ListToolsRequest", stands: "params of `tools/list`", fields: list },
  { name: "ListResourcesRequest", stands: "params of `resources/list`", fields: list },
  { name: "ListResourceTemplatesRequest", stands: "params of `resources/templates/list`", fields: list },
  { name: "ListPromptsRequest", stands: "params of `prompts/list`", fields: list },
  {
    name: "ResultRest",
    stands: "a result without the items or contents that were streamed, or a page's other members",
    fields: [
      field("string", "nextCursor", 1, { added }),
      field("int64", "ttlMs", 2, { added }),
      field("string", "cacheScope", 3, { added }),
      field("string", "resultType", 4, { added }),
      anyMeta(5),
      withTwin("struct", "inputRequests", 6, { added }),
      field("string", "requestState", 7, { added }),
    ],
  },
  { name: "StreamError", stands: "an error", fields: error },
  { name: "ErrorResponse", stands: "an error", fields: error },
  {
    name: "CancelRequest",
    stands: "params of `notifications/cancelled`",
    fields: [field("id", "requestId", 1, { flag: 2, initial: "" }), field("string", "reason", 3, { added }), anyMeta(4)],
  },
  {
    name: "Credit",
    stands: "params of `notifications/dev.anywire/credit`",
    fields: [field("id", "requestId", 1, { flag: 2, initial: "", added }), field("int64", "messages", 3, { initial: 0, added })],
  },
];
