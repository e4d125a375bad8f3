import { type MessageName, PROMPT_COMPLETION, WATCH } from "../../codec/mcpv1/index.js";

/** The path of the typed service, before the method's name. */
export const SERVICE = "/mcp.v1.McpService/";

/** Paths of the tunnel: the one that is dialed, then other names for the same service. */
export const TUNNELS: readonly [string, ...string[]] = ["/MCP/Call", "/McpTunnel/Connect"];

/** Metadata of the wire. */
export const header = {
  session: "mcp-session-id",
  version: "mcp-protocol-version",
  method: "mcp-method",
  name: "mcp-name",
  /** The sender understands JSON in place of Struct, so it is an Anywire end. Sent by both sides. */
  twins: "anywire-twins",
  /** The caller was compiled with the added fields, so it needs no substitutes for them. */
  fields: "anywire-fields",
  errorCode: "mcp-error-code",
  errorData: "mcp-error-data-bin",
  /** The parts of an error that the status does not hold completely: `message`, `data`. */
  errorCut: "mcp-error-cut",
} as const;

interface Base {
  readonly method: string;
  readonly request: MessageName;
}
/** An RPC with one request, and the form of its answer. */
export type Rpc =
  /** One message, or a status. */
  | (Base & { readonly answer: "one"; readonly response: MessageName })
  /** Items or chunks. */
  | (Base & { readonly answer: "parts" })
  /** Progress updates. A failure is one of them. */
  | (Base & { readonly answer: "progress"; readonly response: "CallToolWithProgressResponse" })
  /** Notifications. */
  | (Base & { readonly answer: "notes"; readonly response: MessageName });

const one = (method: string, request: MessageName, response: MessageName): Rpc => ({ method, request, response, answer: "one" });
const parts = (method: string, request: MessageName): Rpc => ({ method, request, answer: "parts" });
const notes = (method: string, request: MessageName, response: MessageName): Rpc => ({ method, request, response, answer: "notes" });

/** Every RPC except the two with a stream of requests. */
export const rpcs: ReadonlyMap<string, Rpc> = new Map<string, Rpc>([
  ["Initialize", one("initialize", "InitializeRequest", "InitializeResponse")],
  ["Ping", one("ping", "PingRequest", "PingResponse")],
  ["ListTools", parts("tools/list", "ListToolsRequest")],
  ["CallTool", one("tools/call", "CallToolRequest", "CallToolResponse")],
  [
    "CallToolWithProgress",
    { method: "tools/call", request: "CallToolWithProgressRequest", response: "CallToolWithProgressResponse", answer: "progress" },
  ],
  ["ListResources", parts("resources/list", "ListResourcesRequest")],
  ["ListResourceTemplates", parts("resources/templates/list", "ListResourceTemplatesRequest")],
  ["ReadResource", one("resources/read", "ReadResourceRequest", "ReadResourceResponse")],
  ["ReadResourceChunked", parts("resources/read", "ReadResourceChunkedRequest")],
  ["WatchResources", notes(WATCH, "WatchResourcesRequest", "WatchResourcesResponse")],
  ["ListPrompts", parts("prompts/list", "ListPromptsRequest")],
  ["GetPrompt", one("prompts/get", "GetPromptRequest", "GetPromptResponse")],
  ["StreamPromptCompletion", notes(PROMPT_COMPLETION, "StreamPromptCompletionRequest", "StreamPromptCompletionResponse")],
  ["Complete", one("completion/complete", "CompleteRequest", "CompleteResponse")],
]);
