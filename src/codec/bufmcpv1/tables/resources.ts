import { type Field, field, type MessageSpec } from "../../protobuf/index.js";
import { inputRequestFields, inputResponseFields, metadata, modernResultFields, twinned } from "../fields.js";

const added = true;

const described: readonly Field[] = [field("string", "description", 3), field("string", "mimeType", 4), metadata(5)];
const described13: readonly Field[] = [
  field("string", "description", 3, { added }),
  field("string", "mimeType", 4, { added }),
  metadata(5, { added }),
];

export const resources: readonly MessageSpec[] = [
  { name: "ListResourcesRequest", stands: "params of `resources/list`", fields: [field("string", "cursor", 1), metadata(100)] },
  {
    name: "ListResourcesResponse",
    stands: "result of `resources/list`",
    fields: [
      field("messages", "resources", 1, { of: "Resource", initial: [] }),
      field("string", "nextCursor", 2),
      metadata(100),
      ...modernResultFields(101),
    ],
  },
  {
    name: "Resource",
    stands: "an element of `resources`",
    fields: [
      field("string", "uri", 1, { initial: "" }),
      field("string", "name", 2, { initial: "" }),
      ...described,
      field("string", "title", 100, { added }),
      field("int64", "size", 101, { added }),
      twinned("struct", "annotations", 102, { added }),
    ],
  },
  {
    name: "ReadResourceRequest",
    stands: "params of `resources/read`",
    fields: [field("string", "uri", 1, { initial: "" }), metadata(100), ...inputResponseFields(101, 102)],
  },
  {
    name: "ReadResourceResponse",
    stands: "result of `resources/read`",
    fields: [
      field("messages", "contents", 1, { of: "ResourceContent", initial: [] }),
      metadata(100),
      ...modernResultFields(101),
      ...inputRequestFields(104, 105),
    ],
  },
  {
    name: "ResourceContent",
    stands: "an element of `contents`",
    fields: [
      field("string", "uri", 1, { initial: "" }),
      field("string", "mimeType", 2),
      field("string", "text", 3, { oneof: "content" }),
      field("octets", "blob", 4, { oneof: "content" }),
      metadata(100),
    ],
  },
  {
    name: "ListResourceTemplatesRequest",
    stands: "params of `resources/templates/list`",
    fields: [field("string", "cursor", 1, { added }), metadata(100)],
  },
  {
    name: "ListResourceTemplatesResponse",
    stands: "result of `resources/templates/list`",
    fields: [
      field("messages", "resourceTemplates", 1, { of: "ResourceTemplate", initial: [], added }),
      field("string", "nextCursor", 2, { added }),
      metadata(100),
      ...modernResultFields(101),
    ],
  },
  {
    name: "ResourceTemplate",
    stands: "an element of `resourceTemplates`",
    fields: [
      field("string", "uriTemplate", 1, { initial: "", added }),
      field("string", "name", 2, { initial: "", added }),
      ...described13,
      field("string", "title", 6, { added }),
      twinned("struct", "annotations", 7, { added }),
    ],
  },
];
