import { field, type MessageSpec } from "../../protobuf/index.js";
import { inputRequestFields, inputResponseFields, metadata, modernResultFields, twinned } from "../fields.js";

const added = true;

/** All of these are additions. */
export const prompts: readonly MessageSpec[] = [
  {
    name: "ListPromptsRequest",
    stands: "params of `prompts/list`",
    fields: [field("string", "cursor", 1, { added }), metadata(100)],
  },
  {
    name: "ListPromptsResponse",
    stands: "result of `prompts/list`",
    fields: [
      field("messages", "prompts", 1, { of: "Prompt", initial: [], added }),
      field("string", "nextCursor", 2, { added }),
      metadata(100),
      ...modernResultFields(101),
    ],
  },
  {
    name: "Prompt",
    stands: "an element of `prompts`",
    fields: [
      field("string", "name", 1, { initial: "", added }),
      field("string", "description", 2, { added }),
      field("messages", "arguments", 3, { of: "PromptArgument", added }),
      field("string", "title", 4, { added }),
      metadata(5, { added }),
    ],
  },
  {
    name: "PromptArgument",
    stands: "an element of a prompt's `arguments`",
    fields: [
      field("string", "name", 1, { initial: "", added }),
      field("string", "description", 2, { added }),
      field("bool", "required", 3, { added }),
      field("string", "title", 4, { added }),
    ],
  },
  {
    name: "GetPromptRequest",
    stands: "params of `prompts/get`",
    fields: [
      field("string", "name", 1, { initial: "", added }),
      field("map", "arguments", 2, { added }),
      metadata(3, { added }),
      ...inputResponseFields(4, 5),
    ],
  },
  {
    name: "GetPromptResponse",
    stands: "result of `prompts/get`",
    fields: [
      field("string", "description", 1, { added }),
      field("messages", "messages", 2, { of: "PromptMessage", initial: [], added }),
      metadata(3, { added }),
      field("string", "resultType", 4, { added }),
      ...inputRequestFields(5, 6),
    ],
  },
  {
    name: "PromptMessage",
    stands: "an element of `messages`",
    fields: [field("string", "role", 1, { initial: "", added }), field("message", "content", 2, { of: "ToolContent", added })],
  },
  {
    name: "CompleteRequest",
    stands: "params of `completion/complete`",
    fields: [
      twinned("struct", "ref", 1, { added }),
      field("message", "argument", 2, { of: "CompletionArgument", added }),
      twinned("struct", "context", 3, { added }),
      metadata(4, { added }),
    ],
  },
  {
    name: "CompletionArgument",
    stands: "`argument` of a completion",
    fields: [field("string", "name", 1, { initial: "", added }), field("string", "value", 2, { initial: "", added })],
  },
  {
    name: "CompleteResponse",
    stands: "result of `completion/complete`",
    fields: [
      field("message", "completion", 1, { of: "Completion", initial: { values: [] }, added }),
      metadata(2, { added }),
      field("string", "resultType", 3, { added }),
    ],
  },
  {
    name: "Completion",
    stands: "`completion`",
    fields: [
      field("strings", "values", 1, { initial: [], added }),
      field("int64", "total", 2, { added }),
      field("bool", "hasMore", 3, { added }),
    ],
  },
];
