import { field, type MessageSpec } from "../../protobuf/index.js";
import { anyMeta, requestMeta, retryFields, withTwin } from "../fields.js";

const added = true;

export const promptMessages: readonly MessageSpec[] = [
  {
    name: "Prompt",
    stands: "an element of `prompts`",
    fields: [
      field("string", "name", 1, { initial: "" }),
      field("string", "description", 2),
      field("messages", "arguments", 3, { of: "PromptArgument" }),
      field("string", "title", 4, { added }),
      field("messages", "icons", 5, { of: "Icon", added }),
      anyMeta(6),
    ],
  },
  {
    name: "PromptArgument",
    stands: "an element of a prompt's `arguments`",
    fields: [
      field("string", "name", 1, { initial: "" }),
      field("string", "description", 2),
      field("bool", "required", 3),
      field("string", "title", 4, { added }),
    ],
  },
  {
    name: "GetPromptRequest",
    stands: "params of `prompts/get`",
    fields: [field("string", "name", 1, { initial: "" }), field("map", "arguments", 2), requestMeta(3), ...retryFields(4)],
  },
  {
    name: "GetPromptResponse",
    stands: "result of `prompts/get`",
    fields: [
      field("string", "description", 1),
      field("messages", "messages", 2, { of: "PromptMessage", initial: [] }),
      field("string", "resultType", 3, { added }),
      anyMeta(4),
      withTwin("struct", "inputRequests", 5, { added }),
      field("string", "requestState", 6, { added }),
    ],
  },
  {
    name: "PromptMessage",
    stands: "an element of `messages`",
    fields: [field("enum", "role", 1, { of: "Role" }), field("message", "content", 2, { of: "Content" })],
  },
  {
    name: "StreamPromptCompletionRequest",
    stands: "params of `dev.anywire/stream-prompt-completion`",
    fields: [field("string", "name", 1, { initial: "" }), field("map", "arguments", 2), requestMeta(3)],
  },
  {
    name: "StreamPromptCompletionResponse",
    stands: "params of `notifications/dev.anywire/completion-chunk`",
    fields: [field("string", "token", 1, { initial: "" }), field("bool", "isFinal", 2), field("string", "finishReason", 3), anyMeta(4)],
  },
  {
    name: "CompleteRequest",
    stands: "params of `completion/complete`",
    fields: [
      field("message", "ref", 1, { name: "resource_template_ref", of: "ResourceTemplateRef", oneof: "ref", when: "ref/resource" }),
      field("message", "ref", 2, { name: "prompt_ref", of: "PromptRef", oneof: "ref", when: "ref/prompt" }),
      field("string", "argument", 3, { name: "argument_name", part: "name", initial: "" }),
      field("string", "argument", 4, { name: "argument_value", part: "value", initial: "" }),
      field("message", "context", 5, { of: "CompletionContext", added }),
      requestMeta(6),
    ],
  },
  { name: "CompletionContext", stands: "`context` of a completion", fields: [field("map", "arguments", 1, { added })] },
  {
    name: "ResourceTemplateRef",
    stands: "`ref` of type `ref/resource`",
    fields: [field("constant", "type", 1, { initial: "ref/resource" }), field("string", "uri", 2, { initial: "" })],
  },
  {
    name: "PromptRef",
    stands: "`ref` of type `ref/prompt`",
    fields: [
      field("constant", "type", 1, { initial: "ref/prompt" }),
      field("string", "name", 2, { initial: "" }),
      field("string", "title", 3, { added }),
    ],
  },
  {
    name: "CompleteResponse",
    stands: "result of `completion/complete`",
    fields: [
      field("message", "completion", 1, { of: "CompletionResult", initial: { values: [] } }),
      field("string", "resultType", 2, { added }),
      anyMeta(3),
    ],
  },
  {
    name: "CompletionResult",
    stands: "`completion`",
    fields: [field("strings", "values", 1, { initial: [] }), field("int32", "total", 2), field("bool", "hasMore", 3)],
  },
];
