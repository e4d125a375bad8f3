import {
  askAll,
  createServer,
  elicit,
  Fault,
  guard,
  isObject,
  type JsonObject,
  log,
  note,
  progress,
  type Reply,
  roots,
  type Server,
  type Service,
  sample,
  type Tool,
} from "../core/index.js";

/** What a check may ask about the server it talks to, through the tool `report`. */
export interface Report extends JsonObject {
  /** Generated tools made so far. */
  readonly made: number;
  /** Progress notifications made by `flood`, by key. */
  readonly flooded: { readonly [key: string]: number };
  /** Calls of `wait` that began, and that heard of their cancellation. */
  readonly started: readonly string[];
  readonly cancelled: readonly string[];
  /** Reads of `test://endless` that were left, and lists of tools. */
  readonly left: number;
  readonly listsLeft: number;
  readonly notifications: readonly JsonObject[];
}

export const GENERATED_TOOLS = 5_000;

/** The service that every wire under test serves. */
export function contractService(): Service {
  const state = {
    made: 0,
    flooded: Object.create(null) as Record<string, number>,
    started: new Set<string>(),
    cancelled: new Set<string>(),
    left: 0,
    listsLeft: 0,
    notifications: [] as JsonObject[],
  };
  const server = createServer({
    name: "contract",
    version: "1.2.3",
    title: "The contract's server",
    instructions: "Everything a wire has to carry.",
    capabilities: { experimental: { "com.example/lab": { level: 2 } }, extensions: { "com.example/thing": { a: 1 } } },
  });
  registerTools(server, state);
  registerAsks(server, state);
  registerResources(server, state);
  server.prompt(
    "greet",
    {
      description: "Greets",
      arguments: { who: { required: true, complete: (value) => ["ada", "alan", "grace"].filter((name) => name.startsWith(value)) } },
    },
    ({ who }) => `Hello, ${who}!`,
  );
  server.method("com.example/echo", (params) => ({ echoed: params }));
  server.onNotification("*", ({ method, params }) => void state.notifications.push({ method, params }));
  return pagedTemplates(server);
}

interface State {
  made: number;
  readonly flooded: Record<string, number>;
  readonly started: Set<string>;
  readonly cancelled: Set<string>;
  left: number;
  listsLeft: number;
  readonly notifications: JsonObject[];
}

function registerTools(server: Server, state: State): void {
  server
    .tool("echo", { description: "Gives back its arguments" }, (args) => ({ content: [], structuredContent: args }))
    .tool(
      "typed",
      { input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
      ({ city }) => `in ${String(city)}`,
    )
    .tool("meta", {}, (_args, ctx) => ({
      content: [],
      structuredContent: ctx.request.params["_meta"] ?? null,
      "com.example/extra": [null, false],
      _meta: { "com.example/m": 1 },
    }))
    .tool("count", {}, async function* ({ n }) {
      for (let done = 1; done <= Number(n); done++) yield progress(done, Number(n), `step ${done}`);
      return "counted";
    })
    .tool("logs", {}, async function* () {
      yield log("debug", "quiet", "lab");
      yield log("warning", { loud: true }, "lab");
      yield note("notifications/com.example/seen", { depth: 1 });
      return "logged";
    })
    .tool("flood", {}, async function* ({ n, size, key }) {
      const message = "x".repeat(Number(size));
      for (let done = 1; done <= Number(n); done++) {
        state.flooded[String(key)] = done;
        yield progress(done, Number(n), message);
      }
      return "flooded";
    })
    .tool("wait", {}, async ({ key }, ctx) => {
      state.started.add(String(key));
      await new Promise<void>((resolve) => ctx.cancel.on(resolve));
      state.cancelled.add(String(key));
      return "waited";
    })
    .tool("fail", {}, ({ code, data }) => {
      throw new Fault("application", "as told", { rpcCode: Number(code), data });
    })
    .tool("boom", {}, () => {
      throw new Error("it broke");
    })
    .tool("report", {}, () => ({
      content: [],
      structuredContent: { ...state, flooded: { ...state.flooded }, started: [...state.started], cancelled: [...state.cancelled] },
    }))
    .tool("touch", {}, ({ uri, list }) => {
      if (typeof uri === "string") server.updated(uri);
      if (list === "tools" || list === "prompts" || list === "resources") server.changed(list);
      return "touched";
    })
    .tools({
      async *list(): AsyncGenerator<Tool> {
        let at = 0;
        try {
          for (; at < GENERATED_TOOLS; at++) {
            state.made++;
            yield { name: `generated-${at}`, description: `Number ${at}`, inputSchema: { type: "object" } };
          }
        } finally {
          if (at < GENERATED_TOOLS) state.listsLeft++;
        }
      },
      call: () => undefined,
    });
}

function registerAsks(server: Server, state: State): void {
  const form = { type: "object", properties: { name: { type: "string" } } };
  server
    .tool("ask-form", {}, async function* () {
      yield progress(1, 2, "before");
      const answer = yield* elicit({ message: "Who?", requestedSchema: form });
      yield progress(2, 2, "after");
      return { content: [], structuredContent: answer };
    })
    .tool("ask-key", {}, async function* ({ key }, ctx) {
      ctx.cancel.on(() => state.cancelled.add(String(key)));
      return { content: [], structuredContent: yield* elicit({ message: "Who?", requestedSchema: form }) };
    })
    .tool("ask-url", {}, async function* () {
      return { content: [], structuredContent: yield* elicit({ mode: "url", message: "Go there", url: "https://example.com/x" }) };
    })
    .tool("ask-model", {}, async function* () {
      const answer = yield* sample({ messages: [{ role: "user", content: { type: "text", text: "2+2?" } }], maxTokens: 5 });
      return { content: [], structuredContent: answer };
    })
    .tool("ask-roots", {}, async function* () {
      return { content: [], structuredContent: yield* roots() };
    })
    .tool("ask-both", {}, async function* () {
      const [first, second] = yield* askAll([
        elicit({ message: "One", requestedSchema: form }),
        elicit({ message: "Two", requestedSchema: form }),
      ]);
      return { content: [], structuredContent: { first, second } };
    })
    .tool("ask-withdrawn", {}, async function* () {
      const asking = elicit({ message: "Never mind", requestedSchema: form });
      const step = await asking.next();
      if (step.done !== true) yield step.value;
      await asking.return({ action: "cancel" });
      return "withdrawn";
    })
    .tool("ask-refused", {}, async function* () {
      try {
        yield* elicit({ message: "Who?", requestedSchema: form });
        return "answered";
      } catch (error) {
        return `refused: ${error instanceof Fault ? `${error.code} ${error.message}` : String(error)}`;
      }
    });
}

/** Octets that depend on their place, so that a part in the wrong place shows. */
export function pattern(offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) {
    const place = offset + at;
    bytes[at] = (place ^ (place >> 8) ^ (place >> 16)) & 0xff;
  }
  return bytes;
}

const CHUNK = 10_007;
/** Octets of `test://asked` for a reader that answers. */
export const ASKED_BYTES: number = 60 * CHUNK;

function registerResources(server: Server, state: State): void {
  server
    .resource({ uri: "test://text", name: "text", mimeType: "text/plain" }, () => "grüße, 世界 🎈")
    .resource({ uri: "test://live", name: "live" }, () => "live")
    .resource({ uri: "test://empty", name: "empty", mimeType: "application/octet-stream" }, () => new Uint8Array(0))
    .resource({ uri: "test://whole", name: "whole" }, (uri) => ({
      // Base64 that is not canonical: it has to survive as it is.
      contents: [
        { uri, blob: "AAB=", mimeType: "x/y", _meta: { "com.example/k": null } },
        { uri: `${uri}#2`, text: "second", extra: [] },
      ],
      "com.example/more": { deep: [1, null, false] },
    }))
    .resource({ uri: "test://big-whole", name: "big-whole" }, (uri) => ({ contents: [{ uri, text: "0123456789".repeat(100_000) }] }))
    .resource({ uri: "test://endless", name: "endless", mimeType: "application/octet-stream" }, async function* () {
      try {
        for (let at = 0; ; at += CHUNK) yield pattern(at, CHUNK);
      } finally {
        state.left++;
      }
    })
    .resource({ uri: "test://asked", name: "asked", mimeType: "application/octet-stream" }, async function* () {
      yield pattern(0, CHUNK);
      const answer = yield* elicit({ message: "Who reads?", requestedSchema: { type: "object" } });
      if (answer.action === "accept") for (let at = 1; at < 60; at++) yield pattern(at * CHUNK, CHUNK);
    })
    .resourceTemplate({ uriTemplate: "test://even/{n}", name: "even" }, async function* (_uri, { variables }) {
      yield pattern(0, Number(variables["n"]));
    })
    .resourceTemplate({ uriTemplate: "test://bytes/{n}", name: "bytes", mimeType: "application/octet-stream" }, (_uri, { variables }) => {
      const size = Number(variables["n"]);
      return {
        size,
        data: (async function* () {
          for (let at = 0; at < size; at += CHUNK) yield pattern(at, Math.min(CHUNK, size - at));
        })(),
      };
    });
}

/** A cursor server's list: its pages, cursors (one of them empty) and page members have to arrive as they are. */
const templatePages: readonly { readonly cursor?: string; readonly names: readonly string[] }[] = [
  { names: ["a", "b"] },
  { cursor: "", names: ["c"] },
  { cursor: "última", names: ["d", "e", "f"] },
];

function pagedTemplates(server: Server): Service {
  return {
    notify: (notification, context) => server.notify(notification, context),
    call(request, context) {
      if (request.method !== "resources/templates/list") return server.call(request, context);
      return guard(async function* (): AsyncGenerator<Reply, JsonObject> {
        const first = templatePages.findIndex(({ cursor }) => cursor === request.params["cursor"]);
        if (first < 0) throw new Fault("invalid-params", "unknown cursor");
        for (let at = first; ; at++) {
          const page = templatePages[at];
          for (const name of page?.names ?? []) yield { kind: "item", value: { name, uriTemplate: `test://${name}/{x}` }, paged: true };
          const rest = { "com.example/page": at };
          const next = templatePages[at + 1];
          if (next === undefined) return rest;
          yield { kind: "page", cursor: next.cursor as string, rest, own: true };
        }
      }, context);
    },
  };
}

export function reportOf(result: JsonObject): Report {
  const report = result["structuredContent"];
  if (!isObject(report)) throw new Fault("internal", "the report is not an object");
  return report as Report;
}
