import { type Field, field, type MessageSpec } from "../../protobuf/index.js";
import { anyMeta, requestMeta, withTwin } from "../fields.js";

const added = true;

const implementation: readonly Field[] = [
  field("string", "name", 1, { initial: "" }),
  field("string", "version", 2, { initial: "" }),
  field("string", "title", 3, { added }),
  field("string", "description", 4, { added }),
  field("string", "websiteUrl", 5, { added }),
  field("messages", "icons", 6, { of: "Icon", added }),
];

export const lifecycleMessages: readonly MessageSpec[] = [
  {
    name: "RequestMeta",
    stands: "`_meta` of a request",
    rest: 3,
    fields: [
      field("string", "traceparent", 1, { name: "trace_id" }),
      field("string", "dev.anywire/correlation-id", 2, { name: "correlation_id" }),
      field("token", "progressToken", 4, { of: "ProgressToken", added }),
      field("message", "io.modelcontextprotocol/clientInfo", 5, { name: "client_info", of: "ClientInfo", added }),
      field("message", "io.modelcontextprotocol/clientCapabilities", 6, { name: "client_capabilities", of: "ClientCapabilities", added }),
    ],
  },
  {
    name: "InitializeRequest",
    stands: "params of `initialize`",
    fields: [
      field("string", "protocolVersion", 1, { initial: "" }),
      field("message", "capabilities", 2, { of: "ClientCapabilities", initial: {} }),
      field("message", "clientInfo", 3, { of: "ClientInfo", initial: { name: "", version: "" } }),
      requestMeta(4),
    ],
  },
  {
    name: "InitializeResponse",
    stands: "result of `initialize`",
    fields: [
      field("string", "protocolVersion", 1, { initial: "" }),
      field("message", "capabilities", 2, { of: "ServerCapabilities", initial: {} }),
      field("message", "serverInfo", 3, { of: "ServerInfo", initial: { name: "", version: "" } }),
      field("string", "instructions", 4),
      field("string", "resultType", 5, { added }),
      anyMeta(6),
    ],
  },
  { name: "ClientInfo", stands: "`clientInfo`", fields: implementation },
  { name: "ServerInfo", stands: "`serverInfo`", fields: implementation },
  {
    name: "Icon",
    stands: "an element of `icons`",
    fields: [
      field("string", "src", 1, { added }),
      field("string", "mimeType", 2, { added }),
      field("strings", "sizes", 3, { added }),
      field("string", "theme", 4, { added }),
    ],
  },
  {
    name: "ClientCapabilities",
    stands: "capabilities of a client",
    fields: [
      field("message", "roots", 1, { of: "RootsCapability" }),
      field("message", "sampling", 2, { of: "SamplingCapability" }),
      withTwin("anys", "experimental", 3, { of: "ExperimentalCapabilities" }),
      field("message", "elicitation", 4, { of: "ElicitationCapability", added }),
      withTwin("struct", "extensions", 5, { added }),
      field("message", "tasks", 6, { of: "TasksCapability", added }),
    ],
  },
  {
    name: "ServerCapabilities",
    stands: "capabilities of a server",
    fields: [
      field("message", "prompts", 1, { of: "PromptsCapability" }),
      field("message", "resources", 2, { of: "ResourcesCapability" }),
      field("message", "tools", 3, { of: "ToolsCapability" }),
      field("message", "logging", 4, { of: "LoggingCapability" }),
      withTwin("anys", "experimental", 5, { of: "ExperimentalCapabilities" }),
      field("message", "completions", 6, { of: "CompletionsCapability", added }),
      withTwin("struct", "extensions", 7, { added }),
      field("message", "tasks", 8, { of: "TasksCapability", added }),
    ],
  },
  { name: "RootsCapability", stands: "`roots`", fields: [field("bool", "listChanged", 1)] },
  {
    name: "SamplingCapability",
    stands: "`sampling`",
    fields: [withTwin("struct", "context", 1, { added }), withTwin("struct", "tools", 2, { added })],
  },
  {
    name: "ElicitationCapability",
    stands: "`elicitation`",
    fields: [withTwin("struct", "form", 1, { added }), withTwin("struct", "url", 2, { added })],
  },
  {
    name: "TasksCapability",
    stands: "`tasks`",
    fields: [
      withTwin("struct", "list", 1, { added }),
      withTwin("struct", "cancel", 2, { added }),
      withTwin("struct", "requests", 3, { added }),
    ],
  },
  { name: "PromptsCapability", stands: "`prompts`", fields: [field("bool", "listChanged", 1)] },
  { name: "ResourcesCapability", stands: "`resources`", fields: [field("bool", "subscribe", 1), field("bool", "listChanged", 2)] },
  { name: "ToolsCapability", stands: "`tools`", fields: [field("bool", "listChanged", 1)] },
  { name: "LoggingCapability", stands: "`logging`", fields: [] },
  { name: "CompletionsCapability", stands: "`completions`", fields: [] },
  { name: "PingRequest", stands: "params of `ping`", fields: [requestMeta(1)] },
  { name: "PingResponse", stands: "result of `ping`", fields: [anyMeta(1), field("string", "resultType", 2, { added })] },
];
