const io = "io.modelcontextprotocol/";
const _meta = {
  [`${io}protocolVersion`]: "2026-07-28",
  [`${io}clientInfo`]: { name: "fuzz", version: "1" },
  [`${io}clientCapabilities`]: { elicitation: {} },
};
const legacy = { protocolVersion: "2025-11-25", capabilities: { roots: {} }, clientInfo: { name: "fuzz", version: "1" } };

/** What clients say, in both eras. */
export const clientMessages = [
  { method: "initialize", id: 1, params: legacy },
  { method: "notifications/initialized" },
  { method: "ping", id: 2 },
  { method: "server/discover", id: 3, params: { _meta } },
  { method: "tools/list", id: 4, params: { _meta, cursor: "x" } },
  { method: "tools/list", id: "five", params: {} },
  { method: "tools/call", id: 6, params: { _meta, name: "echo", arguments: { text: "hello", deep: [1, { a: null }] } } },
  { method: "tools/call", id: 7, params: { name: "echo", arguments: { text: "hello" }, _meta: { progressToken: 1 } } },
  { method: "tools/call", id: 8, params: { _meta, name: "greet", requestState: "none", inputResponses: { a: { action: "accept" } } } },
  { method: "resources/read", id: 9, params: { _meta, uri: "demo://readme" } },
  { method: "resources/templates/list", id: 10, params: { _meta } },
  { method: "resources/subscribe", id: 11, params: { uri: "demo://clock" } },
  { method: "prompts/get", id: 12, params: { _meta, name: "review", arguments: { a: "b" } } },
  {
    method: "completion/complete",
    id: 13,
    params: { _meta, ref: { type: "ref/prompt", name: "review" }, argument: { name: "a", value: "" } },
  },
  { method: "logging/setLevel", id: 14, params: { level: "debug" } },
  { method: "notifications/cancelled", params: { requestId: 6, reason: "no" } },
  { method: "notifications/progress", params: { progressToken: 1, progress: 1 } },
  { method: "notifications/dev.anywire/credit", params: { call: 6, messages: 3 } },
  { method: "vendor/other", id: 15, params: { any: ["thing"] } },
  { id: 16, result: { roots: [{ uri: "file:///x" }] } },
  { id: 17, error: { code: -32000, message: "no", data: { a: 1 } } },
].map((message) => ({ jsonrpc: "2.0", ...message }));

/** What servers answer to these methods, and what they say unasked. */
export const answers = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: { subscribe: true }, logging: {} },
    serverInfo: { name: "bad", version: "1" },
  },
  "server/discover": {
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: "bad", version: "1" },
    resultType: "complete",
    ttlMs: 0,
    cacheScope: "private",
  },
  ping: {},
  "tools/list": {
    tools: [{ name: "echo", inputSchema: { type: "object" }, annotations: { title: "x" } }],
    nextCursor: "2",
    resultType: "complete",
  },
  "tools/call": {
    content: [
      { type: "text", text: "hello" },
      { type: "image", data: "QUJD", mimeType: "image/png" },
    ],
    structuredContent: { a: 1 },
    resultType: "complete",
  },
  "resources/read": {
    contents: [
      { uri: "demo://readme", text: "hello" },
      { uri: "demo://x", blob: "QUJD" },
    ],
    resultType: "complete",
  },
  "prompts/get": { messages: [{ role: "user", content: { type: "text", text: "hello" } }], resultType: "complete" },
  other: {},
};

export const serverMessages = [
  { method: "notifications/message", params: { level: "info", data: { a: 1 } } },
  { method: "notifications/progress", params: { progressToken: 1, progress: 1, total: 2 } },
  { method: "notifications/tools/list_changed" },
  { method: "notifications/resources/updated", params: { uri: "demo://clock" } },
  { method: "notifications/dev.anywire/part", params: { call: 1, blob: "QUJD" } },
  { method: "roots/list", id: 1 },
  { method: "elicitation/create", id: "q", params: { message: "who?", requestedSchema: { type: "object", properties: {} } } },
  { method: "sampling/createMessage", id: 3, params: { messages: [], maxTokens: 1 } },
  { id: 99, result: {} },
  { id: null, error: { code: -32700, message: "what?" } },
].map((message) => ({ jsonrpc: "2.0", ...message }));
