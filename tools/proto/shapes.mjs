import fc from "fast-check";

/** Names that careless code trips over, beside ordinary ones. */
const name = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "__proto__",
      "constructor",
      "toString",
      "hasOwnProperty",
      "",
      "0",
      "id",
      "type",
      "name",
      "_meta",
      "other_members",
    ),
  },
  { weight: 2, arbitrary: fc.string({ maxLength: 6 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 3 }) },
);
const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom("", "\ud800", "a\udfffb", "\ufffd", "\ufeffx", "é", "😀", "x".repeat(200), "ü".repeat(130)) },
);
/** A number as its text, where a double would be another. */
export class OddNumber {
  constructor(text) {
    this.text = text;
  }
}

const number = fc
  .oneof(
    { weight: 8, arbitrary: fc.integer() },
    { weight: 8, arbitrary: fc.maxSafeInteger() },
    { weight: 8, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
    { weight: 8, arbitrary: fc.constantFrom(0, -0, 1, -1, 1e308, -1e-320, 2 ** 31, -(2 ** 31), 2 ** 31 - 1, 2 ** 53, 1.5) },
    { weight: 1, arbitrary: fc.constantFrom("1e400", "-1e309", "-0.0", "-0e7", "-1e-400", "9007199254740993.5") },
    { weight: 1, arbitrary: fc.bigInt({ min: 2n ** 60n, max: 2n ** 70n }).map((big) => `${big | 1n}`) },
  )
  .map((made) => (typeof made === "string" ? new OddNumber(made) : made));
const scalar = fc.oneof(fc.constantFrom(null, true, false), number, text);

const entries = (value, maxLength) => fc.array(fc.tuple(name, value), { maxLength }).map((pairs) => Object.fromEntries(pairs));

export const { json } = fc.letrec((tie) => ({
  json: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie("json"), { maxLength: 3 }), entries(tie("json"), 3)),
}));
const object = entries(json, 4);

const known = (value, rare = json) => fc.oneof({ weight: 24, arbitrary: value }, { weight: 1, arbitrary: rare });

/** An object of these members, each there or not, now and then of the wrong type, with some more that nobody knows. */
function shape(members, { required = [], odd = true } = {}) {
  const model = Object.fromEntries(Object.entries(members).map(([member, value]) => [member, odd ? known(value) : value]));
  const base = fc.record(model, { requiredKeys: odd ? [] : required });
  const whole = fc.record(model);
  const plain = fc.oneof({ weight: 2, arbitrary: base }, { weight: 3, arbitrary: whole });
  return fc.tuple(plain, fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: entries(json, 2) })).map(([a, b]) => {
    const joined = { ...b };
    for (const key of Object.keys(a))
      Object.defineProperty(joined, key, { value: a[key], enumerable: true, writable: true, configurable: true });
    return joined;
  });
}

const base64 = fc.oneof(
  { weight: 5, arbitrary: fc.uint8Array({ maxLength: 40 }).map((octets) => Buffer.from(octets).toString("base64")) },
  { weight: 1, arbitrary: fc.constantFrom("", "AA", "AB==", "AAF=", "A-_A", "AA==AA==", "a b=", "====", "AAA", "!") },
);
const role = fc.constantFrom("user", "assistant");
const id = fc.oneof(fc.maxSafeInteger(), text, fc.constantFrom("1", 1, "", 0));
const token = fc.oneof(id, number);
const bool = fc.boolean();
const time = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom("2026-07-28T00:00:00Z", "yesterday"),
);
const strings = fc.array(text, { maxLength: 3 });
const stringMap = entries(text, 3);
const schema = fc.oneof(object, fc.constant({ type: "object", properties: { a: { type: "string" } }, required: ["a"] }), fc.constant({}));

const icon = shape({ src: text, mimeType: text, sizes: strings, theme: fc.constantFrom("light", "dark") });
const icons = fc.array(icon, { maxLength: 2 });
const annotations = shape({ audience: fc.array(role, { maxLength: 3 }), priority: number, lastModified: time });
const implementation = shape({ name: text, version: text, title: text, description: text, websiteUrl: text, icons });
const experimental = entries(fc.oneof({ weight: 4, arbitrary: object }, { weight: 1, arbitrary: json }), 2);
const listChanged = shape({ listChanged: bool });
const tasks = shape({ list: object, cancel: object, requests: object });
const clientCapabilities = shape({
  roots: listChanged,
  sampling: shape({ context: object, tools: object }),
  elicitation: shape({ form: object, url: object }),
  experimental,
  extensions: object,
  tasks,
});
const serverCapabilities = shape({
  prompts: listChanged,
  resources: shape({ subscribe: bool, listChanged: bool }),
  tools: listChanged,
  logging: fc.oneof(fc.constant({}), object),
  completions: fc.oneof(fc.constant({}), object),
  experimental,
  extensions: object,
  tasks,
});
const requestMeta = shape({
  progressToken: token,
  traceparent: text,
  tracestate: text,
  baggage: text,
  "dev.anywire/correlation-id": text,
  "dev.anywire/window": number,
  "dev.anywire/page-size": number,
  "dev.anywire/chunked": shape({ offset: number, chunkSize: number }),
  "io.modelcontextprotocol/protocolVersion": text,
  "io.modelcontextprotocol/clientInfo": implementation,
  "io.modelcontextprotocol/clientCapabilities": clientCapabilities,
  "io.modelcontextprotocol/logLevel": text,
});
const anyMeta = fc.oneof(object, shape({ "io.modelcontextprotocol/serverInfo": implementation, "dev.anywire/metadata": stringMap }));
const contents = shape({ uri: text, mimeType: text, text, blob: base64, _meta: anyMeta });
const resourceMembers = {
  uri: text,
  name: text,
  title: text,
  description: text,
  mimeType: text,
  size: number,
  icons,
  annotations,
  _meta: anyMeta,
};
const content = fc.oneof(
  shape({ type: fc.constant("text"), text, annotations, _meta: anyMeta }),
  shape({ type: fc.constantFrom("image", "audio"), data: base64, mimeType: text, annotations, _meta: anyMeta }),
  shape({ type: fc.constant("resource"), resource: contents, annotations, _meta: anyMeta }),
  shape({ type: fc.constant("resource_link"), ...resourceMembers }),
  shape({ type: fc.constant("tool_use"), id: text, name: text, input: object }),
);
const answersMembers = { inputResponses: object, requestState: text };
const asked = {
  inputRequests: object,
  requestState: text,
  resultType: fc.constantFrom("complete", "input_required", "task"),
  _meta: anyMeta,
};
const cache = { ttlMs: number, cacheScope: fc.constantFrom("public", "private") };
const toolResult = shape({ content: fc.array(content, { maxLength: 3 }), structuredContent: json, isError: bool, task: object, ...asked });
const tool = shape({
  name: text,
  title: text,
  description: text,
  inputSchema: schema,
  outputSchema: schema,
  annotations: shape({ title: text, readOnlyHint: bool, destructiveHint: bool, idempotentHint: bool, openWorldHint: bool }),
  icons,
  execution: shape({ taskSupport: fc.constantFrom("forbidden", "optional", "required") }),
  _meta: anyMeta,
});
const prompt = shape({
  name: text,
  title: text,
  description: text,
  arguments: fc.array(shape({ name: text, title: text, description: text, required: bool }), { maxLength: 2 }),
  icons,
  _meta: anyMeta,
});
const resource = shape(resourceMembers);
const template = shape({
  uriTemplate: text,
  name: text,
  title: text,
  description: text,
  mimeType: text,
  icons,
  annotations,
  _meta: anyMeta,
});
const list = shape({ cursor: text, _meta: requestMeta });
const completionRef = fc.oneof(
  shape({ type: fc.constant("ref/prompt"), name: text, title: text }),
  shape({ type: fc.constant("ref/resource"), uri: text }),
  shape({ type: text }),
);

/** Params of a client's requests, by method. */
export const requests = {
  initialize: shape({ protocolVersion: text, capabilities: clientCapabilities, clientInfo: implementation, _meta: requestMeta }),
  ping: shape({ _meta: requestMeta }),
  "tools/list": list,
  "resources/list": list,
  "resources/templates/list": list,
  "prompts/list": list,
  "tools/call": shape({ name: text, arguments: object, task: object, ...answersMembers, _meta: requestMeta }),
  "resources/read": shape({ uri: text, ...answersMembers, _meta: requestMeta }),
  "prompts/get": shape({ name: text, arguments: stringMap, ...answersMembers, _meta: requestMeta }),
  "completion/complete": shape({
    ref: completionRef,
    argument: shape({ name: text, value: text }),
    context: shape({ arguments: stringMap }),
    _meta: requestMeta,
  }),
  "resources/subscribe": shape({ uri: text, _meta: requestMeta }),
  "logging/setLevel": shape({ level: text, _meta: requestMeta }),
  "server/discover": shape({ _meta: requestMeta }),
  "subscriptions/listen": shape({ notifications: object, _meta: requestMeta }),
  "tasks/get": shape({ taskId: text, _meta: requestMeta }),
};

/** Results, by the method they answer. */
export const results = {
  initialize: shape({
    protocolVersion: text,
    capabilities: serverCapabilities,
    serverInfo: implementation,
    instructions: text,
    _meta: anyMeta,
  }),
  ping: shape({ resultType: text, _meta: anyMeta }),
  "tools/list": shape({ tools: fc.array(tool, { maxLength: 3 }), nextCursor: text, ...cache, ...asked }),
  "resources/list": shape({ resources: fc.array(resource, { maxLength: 3 }), nextCursor: text, ...cache, ...asked }),
  "resources/templates/list": shape({ resourceTemplates: fc.array(template, { maxLength: 3 }), nextCursor: text, ...cache, ...asked }),
  "prompts/list": shape({ prompts: fc.array(prompt, { maxLength: 3 }), nextCursor: text, ...cache, ...asked }),
  "tools/call": toolResult,
  "resources/read": shape({ contents: fc.array(contents, { maxLength: 3 }), ...cache, ...asked }),
  "prompts/get": shape({ description: text, messages: fc.array(shape({ role, content }), { maxLength: 3 }), ...asked }),
  "completion/complete": shape({ completion: shape({ values: strings, total: number, hasMore: bool }), ...asked }),
  "server/discover": shape({ supportedVersions: strings, capabilities: serverCapabilities, instructions: text, ...cache, ...asked }),
  "subscriptions/listen": shape({ ...asked }),
};

const notifications = {
  "notifications/cancelled": shape({ requestId: id, reason: text, _meta: anyMeta }),
  "notifications/progress": shape({ progressToken: token, progress: number, total: number, message: text, _meta: anyMeta }),
  "notifications/dev.anywire/credit": shape({ requestId: id, bytes: number }),
  "notifications/dev.anywire/resource-changed": shape({
    requestId: id,
    uri: text,
    changeType: fc.constantFrom("created", "modified", "deleted", "moved"),
    timestamp: time,
    contents,
    _meta: anyMeta,
  }),
  "notifications/dev.anywire/completion-chunk": shape({ requestId: id, token: text, isFinal: bool, finishReason: text, _meta: anyMeta }),
  "notifications/message": shape({ level: text, logger: text, data: json, _meta: anyMeta }),
  "notifications/resources/updated": shape({ uri: text, _meta: anyMeta }),
  "notifications/initialized": shape({ _meta: anyMeta }),
};

/** Questions of a server, and of either side what nobody knows. */
const asks = {
  "sampling/createMessage": shape({
    messages: fc.array(shape({ role, content }), { maxLength: 2 }),
    maxTokens: number,
    tools: fc.array(tool, { maxLength: 1 }),
  }),
  "elicitation/create": shape({ message: text, requestedSchema: schema, mode: text, url: text }),
  "roots/list": shape({ _meta: anyMeta }),
  "vendor/unknown": object,
};

const member = fc.oneof({ weight: 12, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: entries(json, 2) });
const reserved = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);
const framed = (arbitrary) =>
  fc.tuple(arbitrary, member).map(([made, extra]) => {
    const message = { jsonrpc: "2.0" };
    for (const key of Object.keys(extra)) {
      if (!reserved.has(key))
        Object.defineProperty(message, key, { value: extra[key], enumerable: true, writable: true, configurable: true });
    }
    return { ...made, message: { ...message, ...made.message } };
  });
const maybe = (params) =>
  fc.oneof(
    { weight: 9, arbitrary: params.map((value) => ({ params: value })) },
    { weight: 1, arbitrary: fc.constantFrom({}, { params: {} }) },
  );
const odd = fc.string({ unit: "binary", minLength: 1, maxLength: 8 });
const pick = (table, made) => fc.oneof(...Object.entries(table).map(([method, value]) => made(method, value)));

const error = fc
  .tuple(
    fc.oneof(fc.integer(), fc.constantFrom(-32603, 2 ** 40, 0)),
    text,
    fc.oneof(
      fc.constant({}),
      json.map((data) => ({ data })),
    ),
    member,
  )
  .map(([code, message, data, extra]) => ({ ...extra, code, message, ...data }));
const methods = fc.constantFrom(...Object.keys(results), "vendor/unknown");

/** Every kind of message, in both directions. */
export const cases = framed(
  fc.oneof(
    {
      weight: 4,
      arbitrary: pick(requests, (method, params) =>
        fc.tuple(id, maybe(params)).map(([id, p]) => ({ to: "server", message: { id, method, ...p } })),
      ),
    },
    {
      weight: 5,
      arbitrary: pick(results, (method, value) =>
        fc.tuple(id, value).map(([id, result]) => ({ to: "client", method, message: { id, result } })),
      ),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          fc.constantFrom("server", "client"),
          pick(notifications, (method, params) => maybe(params).map((p) => ({ method, ...p }))),
        )
        .map(([to, message]) => ({ to, message })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.constantFrom("server", "client"),
          id,
          fc.oneof(
            pick(asks, (method, params) => maybe(params).map((p) => ({ method, ...p }))),
            fc.tuple(odd, object).map(([method, params]) => ({ method, params })),
          ),
        )
        .map(([to, id, rest]) => ({ to, message: { id, ...rest } })),
    },
    { weight: 1, arbitrary: fc.tuple(id, object).map(([id, result]) => ({ to: "server", message: { id, result } })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.constantFrom("server", "client"),
          fc.oneof({ weight: 9, arbitrary: id }, { weight: 1, arbitrary: fc.constant(null) }),
          error,
          methods,
        )
        .map(([to, id, error, method]) => ({ to, method, message: { id, error } })),
    },
  ),
);

/** Objects that stand in a message of their own, by its name. */
export const objects = {
  CallToolWithProgressRequest: requests["tools/call"],
  ToolResult: toolResult,
  ReadResourceChunkedRequest: requests["resources/read"],
  StreamToolCallsRequest: fc
    .tuple(fc.string({ maxLength: 5 }), requests["tools/call"])
    .map(([requestId, params]) => ({ requestId, params })),
  WatchResourcesRequest: shape({ uriPatterns: strings, includeInitial: bool, _meta: requestMeta }),
  StreamPromptCompletionRequest: shape({ name: text, arguments: stringMap, _meta: requestMeta }),
  CallToolWithProgressResponse: fc.oneof(
    notifications["notifications/progress"].map((progress) => ({ progress })),
    toolResult.map((result) => ({ result })),
    error.map((error) => ({ error })),
  ),
  StreamToolCallsResponse: fc.oneof(
    toolResult.map((success) => ({ requestId: "a", success })),
    error.map((error) => ({ requestId: "a", error })),
  ),
};

const rest = shape({ nextCursor: text, ...cache, ...asked });

/** Parts of answers, with the method that they answer. */
export const parts = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(["tools/list", tool], ["resources/list", resource], ["resources/templates/list", template], ["prompts/list", prompt]),
      bool,
    )
    .chain(([[method, value], paged]) =>
      value.map((made) => ({ method, part: { kind: "item", value: made, ...(paged ? { paged } : {}) } })),
    ),
  fc.tuple(text, rest, bool).map(([cursor, rest, own]) => ({ method: "tools/list", part: { kind: "page", cursor, rest, own } })),
  rest.map((value) => ({ method: "prompts/list", part: { kind: "rest", value } })),
  fc
    .tuple(
      fc.constantFrom("text", "blob", "none"),
      shape({ uri: text, mimeType: text, _meta: anyMeta }),
      fc.record({ offset: fc.maxSafeNat(), size: fc.maxSafeNat() }, { requiredKeys: [] }),
    )
    .map(([form, head, place]) => ({ method: "resources/read", part: { kind: "content", form, head, ...place } })),
  fc.oneof(text, fc.uint8Array({ maxLength: 30 })).map((data) => ({ method: "resources/read", part: { kind: "chunk", data } })),
);
