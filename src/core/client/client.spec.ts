import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { asking, gate, type Handle, type Peer, type PeerOptions, peer } from "../../../test/support/peer.js";
import { AMBIENT, type ClientOptions, clientInfo, createClient, Fault, type McpClient, type Message } from "../index.js";

const opened: McpClient[] = [];
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close();
});

async function connected(
  handlers: Record<string, Handle>,
  options: ClientOptions = {},
  peerOptions: PeerOptions = {},
): Promise<{ client: McpClient; server: Peer }> {
  const server = peer(handlers, peerOptions);
  const client = await createClient(server, options);
  opened.push(client);
  return { client, server };
}

const forever: Handle = (_, { cancel }) => new Promise((resolve) => cancel.on(() => resolve({})));

describe("connecting", () => {
  it("learns what the server is", async () => {
    const capabilities = { tools: {}, extensions: { "com.example/x": {} }, experimental: { y: {} } };
    const { client } = await connected({}, {}, { capabilities });
    expect(client.server).toEqual({
      info: { name: "peer", version: "1" },
      capabilities,
      instructions: "Be kind.",
      version: "2026-07-28",
      era: "modern",
      extensions: { "com.example/x": {} },
      experimental: { y: {} },
      supportedVersions: ["2026-07-28"],
      known: true,
    });
  });

  it("says what the server can, also where names have dots", async () => {
    const capabilities = { tools: {}, resources: { subscribe: true, listChanged: false }, extensions: { "dev.any.wire/x": {} } };
    const { client } = await connected({}, {}, { capabilities });
    const asked = ["tools", "tools.listChanged", "resources.subscribe", "resources.listChanged", "prompts", "extensions.dev.any.wire/x"];
    expect(asked.map((path) => client.can(path))).toEqual([true, false, true, false, false, true]);
    expect(client.can("toString")).toBe(false);
  });

  it("goes on with a server that cannot be asked", async () => {
    const { client } = await connected({
      "server/discover": () => Promise.reject(new Fault("unknown-method", "what?")),
      "completion/complete": () => ({ completion: { values: ["a"] } }),
    });
    expect(client.server.known).toBe(false);
    await expect(client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" })).resolves.toMatchObject({
      completion: { values: ["a"] },
    });
  });

  it("closes the connection if the server fails", async () => {
    const server = peer({ "server/discover": () => Promise.reject(new Fault("denied", "no")) });
    await expect(createClient(server)).rejects.toMatchObject({ code: "denied" });
    await expect(server.closed).resolves.toBeUndefined();
  });

  it("declares what its handlers can do, in the name of the package", async () => {
    const elicit = () => ({ action: "decline" }) as const;
    const options: ClientOptions = { elicit, elicitUrl: true, roots: [], capabilities: { roots: { x: 1 }, experimental: { z: {} } } };
    const { server } = await connected({}, options, { era: "legacy" });
    const { client } = server.of("server/discover")[0]?.context ?? {};
    expect(client).toMatchObject({ era: "legacy", info: clientInfo });
    expect(client?.capabilities).toEqual({
      elicitation: { form: {}, url: {} },
      roots: { listChanged: true, x: 1 },
      experimental: { z: {} },
    });
    const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
    expect(clientInfo.version).toBe(version);
  });

  it("declares nothing without handlers, and is one client in all its calls", async () => {
    const { client, server } = await connected({ "tools/call": () => ({ content: [] }) });
    await client.callTool("a");
    const clients = new Set(server.calls.map((call) => call.context.client));
    expect([...clients].map(({ capabilities }) => capabilities)).toEqual([{}]);
  });
});

describe("the background call", () => {
  it("answers asks and hands on logs and notifications of no call", async () => {
    const question = asking("roots/list");
    const onLog = vi.fn();
    const heard = gate<Message>();
    const { server } = await connected(
      {
        async *[AMBIENT](_, { cancel }) {
          yield question.reply;
          yield { kind: "log", params: { level: "info", data: 1 }, ambient: true };
          yield { kind: "note", method: "notifications/tools/list_changed", params: {} };
          await new Promise<void>((resolve) => cancel.on(resolve));
          return {};
        },
      },
      { roots: () => [{ uri: "file:///" }], onLog, onNotification: heard.open, timeout: 60_000 },
      { era: "legacy" },
    );
    await expect(heard).resolves.toEqual({ method: "notifications/tools/list_changed", params: {} });
    await expect(question.answer).resolves.toEqual({ roots: [{ uri: "file:///" }] });
    expect(onLog).toHaveBeenCalledWith({ level: "info", data: 1 });
    expect(server.of(AMBIENT)[0]?.context).toMatchObject({ progress: false, logLevel: "info" });
    expect(server.of(AMBIENT)[0]?.context.deadline).toBeUndefined();
  });

  it("may fail at once", async () => {
    const onFault = vi.fn();
    const { client } = await connected(
      { [AMBIENT]: () => Promise.reject(new Fault("unavailable", "none")), "tools/call": () => ({ content: [] }) },
      { onFault },
    );
    await expect(client.callTool("a")).resolves.toEqual({ content: [] });
    expect(onFault).toHaveBeenCalledWith(expect.objectContaining({ code: "unavailable" }));
  });

  it("follows the log level", async () => {
    const { client, server } = await connected({ "tools/call": () => ({ content: [] }) }, { logLevel: "error" });
    client.setLogLevel("debug");
    await client.callTool("a");
    await client.callTool("a", {}, { logLevel: "alert" });
    expect(server.of(AMBIENT).map((call) => call.context.logLevel)).toEqual(["error", "debug"]);
    expect(server.left).toEqual([AMBIENT]);
    expect(server.of("tools/call").map((call) => call.context.logLevel)).toEqual(["debug", "alert"]);
  });
});

describe("small calls", () => {
  it("sends what was meant", async () => {
    const echo: Handle = (params) => ({ ...params, content: [], messages: [], completion: { values: [] } });
    const { client, server } = await connected(
      { "prompts/get": echo, "completion/complete": echo, "vendor/x": echo },
      {},
      { capabilities: { completions: {} } },
    );
    await client.getPrompt("p");
    await client.getPrompt("p", { a: "1" }, { meta: { trace: 1 } });
    await client.complete({ type: "ref/resource", uri: "u" }, { name: "a", value: "b" }, { arguments: { c: "d" } });
    await client.call("vendor/x", { y: 1 });
    await client.ping();
    expect(server.calls.slice(2).map((call) => call.request)).toEqual([
      { method: "prompts/get", params: { name: "p" } },
      { method: "prompts/get", params: { name: "p", arguments: { a: "1" }, _meta: { trace: 1 } } },
      {
        method: "completion/complete",
        params: { ref: { type: "ref/resource", uri: "u" }, argument: { name: "a", value: "b" }, context: { arguments: { c: "d" } } },
      },
      { method: "vendor/x", params: { y: 1 } },
      { method: "server/discover", params: {} },
    ]);
  });

  it("pings and tells of roots as the era does", async () => {
    const legacy = await connected({}, {}, { era: "legacy" });
    await legacy.client.ping();
    await legacy.client.rootsChanged();
    expect(legacy.server.of("ping")).toHaveLength(1);
    expect(legacy.server.notified).toEqual([{ method: "notifications/roots/list_changed", params: {} }]);
    const modern = await connected({});
    await modern.client.rootsChanged();
    await modern.client.notify("vendor/note", { a: 1 });
    expect(modern.server.notified).toEqual([{ method: "vendor/note", params: { a: 1 } }]);
  });

  it("does not ask for what the server says it cannot do", async () => {
    const { client, server } = await connected({}, {}, { capabilities: { resources: {} } });
    const sent = server.calls.length;
    const missing = { code: "missing-capability" };
    await expect(client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" })).rejects.toMatchObject(missing);
    await expect(client.watch("file:///**").next()).rejects.toMatchObject(missing);
    await expect(client.listen({ resourceSubscriptions: ["a:b"] }).next()).rejects.toMatchObject(missing);
    expect(server.calls).toHaveLength(sent);
    // Some servers have tools that they do not declare.
    await expect(client.callTool("a")).rejects.toMatchObject({ code: "unknown-method", rpcCode: -32601 });
  });

  it("learns anew what the server is", async () => {
    let tools = false;
    const { client } = await connected({
      "server/discover": () => ({ supportedVersions: ["2026-07-28"], capabilities: tools ? { tools: {} } : {} }),
    });
    expect(client.can("tools")).toBe(false);
    tools = true;
    await client.discover();
    expect(client.can("tools")).toBe(true);
  });
});

describe("listening", () => {
  it("gives the acknowledgement, then what happens, and ends with the server", async () => {
    const { client, server } = await connected(
      {
        async *"subscriptions/listen"(params) {
          yield { kind: "note", method: "notifications/subscriptions/acknowledged", params };
          yield { kind: "note", method: "notifications/tools/list_changed", params: {} };
          return {};
        },
      },
      { timeout: 1000 },
      { capabilities: { tools: { listChanged: true } } },
    );
    const heard: Message[] = [];
    for await (const note of client.listen({ toolsListChanged: true, resourceSubscriptions: ["a:b"] })) heard.push(note);
    expect(heard).toEqual([
      {
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: { toolsListChanged: true, resourceSubscriptions: ["a:b"] } },
      },
      { method: "notifications/tools/list_changed", params: {} },
    ]);
    expect(server.of("subscriptions/listen")[0]?.context.deadline).toBeUndefined();
  });
});

describe("closing", () => {
  it("fails every open call, leaves the background call and closes the connection", async () => {
    const { client, server } = await connected({ "tools/call": forever, "tools/list": forever });
    const call = client.callTool("a");
    const tool = client.tools().next();
    await vi.waitFor(() => expect(server.calls).toHaveLength(4));
    const outcomes = Promise.allSettled([call, tool]);
    await client.close();
    const gone = { status: "rejected", reason: expect.objectContaining({ code: "unavailable", data: { reason: "closed" } }) };
    await expect(outcomes).resolves.toEqual([gone, gone]);
    await expect(client.closed).resolves.toBeUndefined();
    expect(server.left).toContain(AMBIENT);
    await expect(client.callTool("a")).rejects.toMatchObject({ code: "unavailable" });
    await expect(client.notify("x")).rejects.toMatchObject({ code: "unavailable" });
    expect(server.calls).toHaveLength(4);
  });

  it("happens at the end of a scope", async () => {
    const server = peer({});
    const client = await createClient(server);
    await client[Symbol.asyncDispose]();
    await expect(server.closed).resolves.toBeUndefined();
  });
});
