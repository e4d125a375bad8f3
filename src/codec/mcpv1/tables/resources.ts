import { type Field, field, type MessageSpec } from "../../protobuf/index.js";
import { anyMeta, requestMeta, retryFields, withTwin } from "../fields.js";

const added = true;

const dressed = (number: number): readonly Field[] => [
  field("string", "title", number, { added }),
  field("messages", "icons", number + 1, { of: "Icon", added }),
  field("message", "annotations", number + 2, { of: "ContentAnnotations", added }),
  anyMeta(number + 3),
];

export const resourceMessages: readonly MessageSpec[] = [
  {
    name: "Resource",
    stands: "an element of `resources`, or a content block of type `resource_link`",
    fields: [
      field("string", "uri", 1, { initial: "" }),
      field("string", "name", 2, { initial: "" }),
      field("string", "description", 3),
      field("string", "mimeType", 4),
      field("int64", "size", 5),
      field("metadata", "dev.anywire/metadata", 6, { name: "metadata", of: "Metadata", lift: true }),
      ...dressed(7),
    ],
  },
  {
    name: "ResourceTemplate",
    stands: "an element of `resourceTemplates`",
    fields: [
      field("string", "uriTemplate", 1, { initial: "" }),
      field("string", "name", 2, { initial: "" }),
      field("string", "description", 3),
      field("string", "mimeType", 4),
      ...dressed(5),
    ],
  },
  {
    name: "ReadResourceRequest",
    stands: "params of `resources/read`",
    fields: [field("string", "uri", 1, { initial: "" }), requestMeta(2), ...retryFields(3)],
  },
  {
    name: "ReadResourceResponse",
    stands: "result of `resources/read`",
    fields: [
      field("messages", "contents", 1, { of: "ResourceContents", initial: [] }),
      field("string", "resultType", 2, { added }),
      field("int64", "ttlMs", 3, { added }),
      field("string", "cacheScope", 4, { added }),
      anyMeta(5),
      withTwin("struct", "inputRequests", 6, { added }),
      field("string", "requestState", 7, { added }),
    ],
  },
  {
    name: "ReadResourceChunkedRequest",
    stands: "params of `resources/read`",
    fields: [
      field("string", "uri", 1, { initial: "" }),
      field("int32", "dev.anywire/chunked", 2, { name: "chunk_size", lift: true, part: "chunkSize", open: true }),
      field("int64", "dev.anywire/chunked", 3, { name: "offset", lift: true, part: "offset", open: true }),
      requestMeta(4),
      ...retryFields(5),
    ],
  },
  { name: "ContentBegin", stands: "a content's members besides `uri`, `mimeType` and the data", fields: [anyMeta(2)] },
  {
    name: "ResourceContents",
    stands: "an element of `contents`, or the `resource` of a content block",
    fields: [
      field("string", "uri", 1, { initial: "" }),
      field("string", "mimeType", 2),
      field("string", "text", 3, { oneof: "content" }),
      field("octets", "blob", 4, { oneof: "content" }),
      anyMeta(5),
    ],
  },
  {
    name: "WatchResourcesRequest",
    stands: "params of `dev.anywire/watch-resources`",
    fields: [field("strings", "uriPatterns", 1, { initial: [] }), field("bool", "includeInitial", 2), requestMeta(3)],
  },
  {
    name: "WatchResourcesResponse",
    stands: "params of `notifications/dev.anywire/resource-changed`",
    fields: [
      field("string", "uri", 1, { initial: "" }),
      field("enum", "changeType", 2, { of: "ResourceChangeType" }),
      field("time", "timestamp", 3),
      field("message", "contents", 4, { of: "ResourceContents" }),
      anyMeta(5),
    ],
  },
];
