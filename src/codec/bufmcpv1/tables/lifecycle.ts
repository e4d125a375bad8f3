import { field, type MessageSpec } from "../../protobuf/index.js";
import { metadata, twinned } from "../fields.js";

const added = true;

/** The base omits these if they are false or empty, and nobody needs to tell the difference. */
const flag = (member: string, number: number) => field("bool", member, number, { initial: false });

/** The `metadata` of the handshake is the peer's name and version, so `_meta` has a field of its own. */
const meta = twinned("struct", "_meta", 105, { name: "meta", added });

export const lifecycle: readonly MessageSpec[] = [
  {
    name: "InitializeRequest",
    stands: "params of `initialize`",
    fields: [
      field("string", "protocolVersion", 1, { initial: "" }),
      field("message", "capabilities", 2, { of: "ClientCapabilities" }),
      field("map", "metadata", 3),
      field("string", "mcpVersion", 100, { added }),
      twinned("struct", "mcpCapabilities", 101, { added }),
      twinned("struct", "clientInfo", 102, { added }),
      field("bool", "probe", 104, { added }),
      meta,
    ],
  },
  {
    name: "ClientCapabilities",
    stands: "what a client of proto-mcp can do",
    fields: [
      flag("supportsBsrRefs", 1),
      flag("supportsStreaming", 2),
      field("strings", "encodings", 3, { initial: [] }),
      field("map", "experimental", 4, { values: "bool" }),
    ],
  },
  {
    name: "InitializeResponse",
    stands: "result of `initialize`",
    fields: [
      field("string", "protocolVersion", 1, { initial: "" }),
      field("message", "capabilities", 2, { of: "ServerCapabilities" }),
      field("map", "metadata", 3),
      field("string", "mcpVersion", 100, { added }),
      twinned("struct", "mcpCapabilities", 101, { added }),
      twinned("struct", "serverInfo", 102, { added }),
      field("string", "instructions", 104, { added }),
      meta,
    ],
  },
  {
    name: "ServerCapabilities",
    stands: "what a server of proto-mcp can do",
    fields: [
      flag("supportsBsrRefs", 1),
      flag("supportsStreaming", 2),
      field("message", "tools", 3, { of: "ToolCapabilities" }),
      field("message", "resources", 4, { of: "ResourceCapabilities" }),
      field("message", "prompts", 5, { of: "PromptCapabilities" }),
    ],
  },
  { name: "ToolCapabilities", stands: "`tools` of the capabilities", fields: [flag("supportsListChanged", 1)] },
  {
    name: "ResourceCapabilities",
    stands: "`resources` of the capabilities",
    fields: [flag("supportsSubscribe", 1), flag("supportsListChanged", 2)],
  },
  { name: "PromptCapabilities", stands: "`prompts` of the capabilities", fields: [flag("supportsListChanged", 1)] },
  {
    name: "ErrorResponse",
    stands: "an error",
    fields: [field("int32", "code", 1, { initial: 0 }), field("string", "message", 2, { initial: "" }), twinned("struct", "data", 3)],
  },
  {
    name: "ProgressNotification",
    stands: "params of `notifications/progress`",
    fields: [
      field("token", "progressToken", 1, { of: "ProgressToken", added }),
      field("double", "progress", 2, { added }),
      field("double", "total", 3, { added }),
      field("string", "message", 4, { added }),
      metadata(100),
    ],
  },
  {
    name: "CancelledNotification",
    stands: "params of `notifications/cancelled`",
    fields: [field("id", "requestId", 1, { flag: 2, added }), field("string", "reason", 3, { added }), metadata(100)],
  },
];
