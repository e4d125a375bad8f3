import { type Field, field, type MessageSpec } from "../../protobuf/index.js";
import { anyMeta } from "../fields.js";

const added = true;

const media: readonly Field[] = [field("string", "data", 1, { initial: "" }), field("string", "mimeType", 2, { initial: "" })];

export const content: readonly MessageSpec[] = [
  {
    name: "Content",
    stands: "a content block",
    fields: [field("message", "annotations", 5, { of: "ContentAnnotations" }), anyMeta(7)],
    variants: [
      { ...field("message", "text", 1, { of: "TextContent", oneof: "content" }), when: "text" },
      { ...field("message", "image", 2, { of: "ImageContent", oneof: "content" }), when: "image" },
      { ...field("message", "audio", 3, { of: "AudioContent", oneof: "content" }), when: "audio" },
      { ...field("message", "resource", 4, { of: "EmbeddedResource", oneof: "content" }), when: "resource" },
      { ...field("message", "resourceLink", 6, { of: "Resource", oneof: "content", added }), when: "resource_link" },
    ],
  },
  { name: "TextContent", stands: "a content block of type `text`", fields: [field("string", "text", 1, { initial: "" })] },
  { name: "ImageContent", stands: "a content block of type `image`", fields: media },
  { name: "AudioContent", stands: "a content block of type `audio`", fields: media },
  {
    name: "EmbeddedResource",
    stands: "a content block of type `resource`",
    fields: [field("message", "resource", 1, { of: "ResourceContents" })],
  },
  {
    name: "ContentAnnotations",
    stands: "`annotations` of a content or a resource",
    fields: [
      field("enums", "audience", 1, { of: "Role", several: 3 }),
      field("double", "priority", 2),
      field("string", "lastModified", 4, { added }),
    ],
  },
];
