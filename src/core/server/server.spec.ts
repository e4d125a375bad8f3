import { describe, expect, it } from "vitest";
import { contextOf, faultOf, nextOf, outcome, until } from "../../../test/calls.js";
import { AMBIENT, createServer, Fault, type HandlerContext, KEPT_STATE, meta, type Tool } from "../index.js";

const make = (): ReturnType<typeof createServer> => createServer({ name: "demo", version: "1.0.0" });

describe("a requestState that an edge sealed", () => {
  it.each([
    ["tools/call", { name: "t" }],
    ["prompts/get", { name: "p" }],
    ["resources/read", { uri: "a://b" }],
  ])("and that none has opened is refused: %s", async (method, params) => {
    let ran = 0;
    const run = (): string => String(++ran);
    const server = make().tool("t", {}, run).prompt("p", {}, run).resource({ uri: "a://b", name: "b" }, run);
    const fault = await faultOf(server, method, { ...params, requestState: `${KEPT_STATE}x.y.z` });
    expect([fault.code, ran]).toEqual(["invalid-params", 0]);
    await outcome(server, method, { ...params, requestState: "of the handler's own" });
    expect(ran).toBe(1);
  });
});

describe("discover", () => {
  it("derives capabilities at call time from what is registered", async () => {
    const server = createServer({
      name: "demo",
      version: "1.0.0",
      title: "Demo",
      instructions: "be kind",
      capabilities: { extensions: { "dev.test/x": {} } },
    });
    const before = await outcome(server, "server/discover");
    expect(before.result).toEqual({
      supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
      capabilities: { logging: {}, extensions: { "dev.test/x": {} } },
      instructions: "be kind",
      _meta: { [meta.serverInfo]: { name: "demo", version: "1.0.0", title: "Demo" } },
    });
    server
      .tool("t", {}, () => "x")
      .resource({ uri: "a://b", name: "b" }, () => "x")
      .prompt("p", { arguments: { who: { complete: () => ["a"] } } }, () => "x");
    const after = await outcome(server, "server/discover");
    expect(after.result["capabilities"]).toEqual({
      logging: {},
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      extensions: { "dev.test/x": {} },
    });
  });

  it("adds how long results may be kept, where that was said, to cacheable results only", async () => {
    const server = createServer({ name: "demo", version: "1", ttlMs: 5000, cacheScope: "public" })
      .tool("t", {}, () => "x")
      .resource({ uri: "a://b", name: "b" }, () => "x");
    const cached = { ttlMs: 5000, cacheScope: "public" };
    expect((await outcome(server, "server/discover")).result).toMatchObject(cached);
    expect((await outcome(server, "tools/list")).result).toEqual(cached);
    expect((await outcome(server, "resources/read", { uri: "a://b" })).result).toEqual(cached);
    expect((await outcome(server, "tools/call", { name: "t" })).result).toEqual({ content: [{ type: "text", text: "x" }] });
  });
});

describe("dispatch", () => {
  it("answers ping", async () => {
    expect(await outcome(make(), "ping")).toEqual({ replies: [], result: {} });
  });

  it.each([
    "vendor/none",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    "constructor",
  ])("knows no %s while nothing is registered for it", async (method) => {
    const fault = await faultOf(make(), method);
    expect(fault.code).toBe("unknown-method");
    expect(fault.message).toContain(method);
  });

  it("runs nothing before the first next()", async () => {
    let ran = 0;
    const server = make().tool("t", {}, () => {
      ran++;
      return "x";
    });
    const replies = server.call({ method: "tools/call", params: { name: "t" } }, contextOf());
    await replies.return();
    expect(await replies.next()).toEqual({ done: true, value: undefined });
    expect(ran).toBe(0);
  });

  it("answers methods of one's own, by value and by generator", async () => {
    const server = make()
      .method("vendor/sum", (params) => ({ sum: (params["of"] as number[]).reduce((a, b) => a + b, 0) }))
      .method("vendor/empty", () => undefined)
      .method("vendor/steps", async function* () {
        yield { kind: "note", method: "vendor/step", params: { at: 1 } };
        return { ok: true };
      });
    expect((await outcome(server, "vendor/sum", { of: [1, 2] })).result).toEqual({ sum: 3 });
    expect((await outcome(server, "vendor/empty")).result).toEqual({});
    expect(await outcome(server, "vendor/steps")).toEqual({
      replies: [{ kind: "note", method: "vendor/step", params: { at: 1 } }],
      result: { ok: true },
    });
    expect(() => server.method("tools/call", () => ({}))).toThrow(Fault);
  });

  it("gives handlers their call", async () => {
    const server = make();
    let seen: HandlerContext | undefined;
    server.method("vendor/look", (_, ctx) => {
      seen = ctx;
      return {};
    });
    const client = { capabilities: { sampling: { tools: {} }, elicitation: {}, roots: false } };
    const context = contextOf({ client, progress: true, deadline: 17, metadata: { a: "b" }, trace: { traceparent: "00" } });
    await outcome(server, "vendor/look", { a: 1 }, context);
    expect(seen).toMatchObject({ wantsProgress: true, deadline: 17, metadata: { a: "b" }, trace: { traceparent: "00" } });
    expect(seen?.request).toEqual({ method: "vendor/look", params: { a: 1 } });
    const can = ["sampling", "sampling.tools", "elicitation", "elicitation.form", "elicitation.url", "roots", "constructor", "__proto__"];
    expect(can.filter((path) => seen?.can(path))).toEqual(["sampling", "sampling.tools", "elicitation", "elicitation.form"]);
  });
});

describe("lists", () => {
  it("makes nothing before it is asked for", async () => {
    let made = 0;
    const server = make().tools({
      list: function* (): Generator<Tool> {
        for (;;) yield { name: `t${made++}`, inputSchema: { type: "object" } };
      },
      call: () => "x",
    });
    const replies = server.call({ method: "tools/list", params: {} }, contextOf());
    expect(made).toBe(0);
    expect(await nextOf(replies)).toEqual({ kind: "item", value: { name: "t0", inputSchema: { type: "object" } } });
    expect(made).toBe(1);
    await nextOf(replies);
    expect(made).toBe(2);
    await replies.return();
  });

  it("reads single entries and then each catalogue, and ends with the result", async () => {
    const server = make()
      .prompt("one", {}, () => "x")
      .prompts({ list: async () => [{ name: "two" }], get: () => undefined })
      .prompts({
        list: async function* () {
          yield { name: "three" };
        },
        get: () => undefined,
      });
    const { replies, result } = await outcome(server, "prompts/list");
    expect(replies.map((reply) => reply.kind === "item" && reply.value["name"])).toEqual(["one", "two", "three"]);
    expect(result).toEqual({});
  });

  it("returns the source of a list that is left, also while it is awaited", async () => {
    let returned = 0;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: async () => {
          returned++;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const server = make().tools({ list: () => source, call: () => "x" });
    const replies = server.call({ method: "tools/list", params: {} }, contextOf());
    const pending = replies.next();
    await new Promise((resolve) => setImmediate(resolve));
    await replies.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(returned).toBe(1);
  });

  it("knows no cursor", async () => {
    const fault = await faultOf(
      make().tool("t", {}, () => "x"),
      "tools/list",
      { cursor: "" },
    );
    expect([fault.code, fault.message]).toEqual(["invalid-params", "unknown or expired cursor"]);
  });
});

describe("notifications of a client", () => {
  it("go to those who listen, and their errors to onFault", async () => {
    const server = make();
    const heard: string[] = [];
    const faults: Fault[] = [];
    server.onFault((fault) => faults.push(fault));
    const stop = server.onNotification("vendor/a", ({ method }) => void heard.push(method));
    server.onNotification("*", async ({ params }, ctx) => {
      heard.push(`${ctx.client.identity.principal} ${JSON.stringify(params)}`);
      throw new Error("mine");
    });
    await server.notify({ method: "vendor/a", params: { x: 1 } }, contextOf());
    stop();
    await server.notify({ method: "vendor/a", params: {} }, contextOf());
    await until(() => faults.length === 2);
    expect(heard).toEqual(["vendor/a", 'test {"x":1}', "test {}"]);
    expect(faults[0]).toMatchObject({ code: "internal", message: "mine" });
  });
});

describe("subscriptions/listen", () => {
  const full = (): ReturnType<typeof createServer> =>
    make()
      .tool("t", {}, () => "x")
      .resource({ uri: "a://1", name: "1" }, () => "x");
  const params = {
    notifications: { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["a://1", "a://2", "a://1"] },
  };

  it("acknowledges what it honours, then tells of just that", async () => {
    const server = full();
    const replies = server.call({ method: "subscriptions/listen", params }, contextOf());
    expect(await nextOf(replies)).toEqual({
      kind: "note",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { toolsListChanged: true, resourceSubscriptions: ["a://1", "a://2"] } },
    });
    const pending = nextOf(replies);
    server.changed("prompts");
    server.changed("resources");
    server.updated("a://3");
    server.changed("tools");
    expect(await pending).toEqual({ kind: "note", method: "notifications/tools/list_changed", params: {} });
    for (let i = 0; i < 1000; i++) {
      server.updated("a://2");
      server.updated("a://1");
      server.changed("tools");
    }
    expect([await nextOf(replies), await nextOf(replies), await nextOf(replies)]).toEqual([
      { kind: "note", method: "notifications/resources/updated", params: { uri: "a://2" } },
      { kind: "note", method: "notifications/resources/updated", params: { uri: "a://1" } },
      { kind: "note", method: "notifications/tools/list_changed", params: {} },
    ]);
    const last = nextOf(replies);
    server.close();
    expect(await last).toEqual({ kind: "result", value: {} });
    expect(await replies.next()).toEqual({ done: true, value: undefined });
  });

  it("ends at once on a server that is closed, and when it is left", async () => {
    const server = full();
    const left = server.call({ method: "subscriptions/listen", params }, contextOf());
    await nextOf(left);
    const pending = left.next();
    await left.return();
    expect((await pending).done).toBe(true);
    server.close();
    const { replies, result } = await outcome(server, "subscriptions/listen", params);
    expect(replies).toHaveLength(1);
    expect(result).toEqual({});
  });
});

describe("logs of no call", () => {
  it("go to ambient calls, the oldest giving way", async () => {
    const server = make();
    server.log("info", "nobody is there");
    const debug = server.call({ method: AMBIENT, params: {} }, contextOf());
    const quiet = server.call({ method: AMBIENT, params: {} }, contextOf({ logLevel: "error" }));
    const first = nextOf(debug);
    const loud = nextOf(quiet);
    server.log("debug", "one", "main");
    expect(await first).toEqual({ kind: "log", params: { level: "debug", logger: "main", data: "one" }, ambient: true });
    for (let i = 0; i < 300; i++) server.log("info", i);
    server.log("error", "bad");
    expect(await loud).toMatchObject({ params: { data: "bad" } });
    expect(server.droppedLogs).toBe(45);
    expect(await nextOf(debug)).toMatchObject({ params: { data: 45 } });
    server.close();
    let last = await nextOf(debug);
    let waiting = 0;
    for (; last.kind === "log"; last = await nextOf(debug)) waiting++;
    expect(waiting).toBe(255);
    expect(last).toEqual({ kind: "result", value: {} });
  });
});
