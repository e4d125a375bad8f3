import { describe, expect, test, vi } from "vitest";
import { createClient, type JsonObject } from "../../src/core/index.js";
import { patience } from "../fixtures/children/index.js";
import { call, initialize, notification, opener, type Raw, rawMemory, request } from "../fixtures/raw.js";
import { calls, type Upstream, upstreams } from "../fixtures/upstream.js";

const able = { elicitation: {}, sampling: {}, roots: {} };
const question = (id: string | number, message: string): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method: "elicitation/create",
  params: { message },
});
const entry = (data: string): JsonObject => notification("notifications/message", { level: "error", data });
const said = (raw: Raw): unknown[] => raw.heard.filter(({ method }) => method !== undefined);

describe("one legacy upstream for several clients", () => {
  const dial = upstreams();
  const open = opener((upstream: Upstream) => rawMemory(upstream.connection));
  const two = async (): Promise<{ upstream: Upstream; a: Raw; b: Raw }> => {
    const upstream = await dial({ client: { capabilities: able } });
    const [a, b] = [open(upstream), open(upstream)];
    await Promise.all([initialize(a, "2025-11-25", able), initialize(b, "2025-11-25", able)]);
    await Promise.all([a.during(() => {}), b.during(() => {})]);
    return { upstream, a, b };
  };

  test("a question that names no call is for the client that alone has a call open", async () => {
    const { upstream, a, b } = await two();
    const { server, answer } = upstream;
    a.send(call(1, "mine"));
    await server.hear(calls("mine"));
    server.send(question("q", "secret of A"));
    const { id } = await a.hear(({ method }) => method === "elicitation/create");
    a.send({ jsonrpc: "2.0", id, result: { action: "decline" } });
    expect(await server.response("q")).toMatchObject({ result: { action: "decline" } });
    await answer(calls("mine"), { content: [] });
    await a.response(1);
    expect(await b.during(() => {})).toEqual([]);
    expect(said(b)).toEqual([]);
  });

  test.each(["both have a call open", "neither has a call open"])("a question that names no call is refused where %s", async (which) => {
    const { upstream, a, b } = await two();
    const { server } = upstream;
    if (which.startsWith("both")) {
      a.send(call(1, "of-a"));
      b.send(call(1, "of-b"));
      await Promise.all(["of-a", "of-b"].map((name) => server.hear(calls(name))));
    }
    server.send(question("q", "secret"), { jsonrpc: "2.0", id: "r", method: "roots/list" });
    for (const id of ["q", "r"])
      expect(await server.response(id)).toMatchObject({ error: { message: expect.stringContaining("fanIn"), data: { option: "fanIn" } } });
    expect([...said(a), ...said(b)]).toEqual([]);
  });

  test("a question is not for whoever is left when the call that it may belong to was given up just now", async () => {
    const { upstream, a, b } = await two();
    const { server } = upstream;
    a.send(call(1, "mine"));
    await server.hear(calls("mine"));
    a.send(notification("notifications/cancelled", { requestId: 1 }));
    await server.hear(({ method }) => method === "notifications/cancelled");
    b.send(call(1, "other"));
    await server.hear(calls("other"));
    server.send(question("q", "secret of A"));
    expect(await server.response("q")).toMatchObject({ error: { data: { reason: "ambiguous-client" } } });
    await a.close();
    server.send(question("late", "secret of A"));
    expect(await server.response("late")).toMatchObject({ error: expect.any(Object) });
    expect(said(b)).toEqual([]);
  });

  test("whoever is left when the other has gone is asked", async () => {
    const { upstream, a, b } = await two();
    await a.close();
    upstream.server.send(question("q", "Who?"));
    const { id } = await b.hear(({ method }) => method === "elicitation/create");
    b.send({ jsonrpc: "2.0", id, result: { action: "decline" } });
    expect(await upstream.server.response("q")).toMatchObject({ result: { action: "decline" } });
  });

  test("log entries and notifications that name no call go to the client that alone has a call open", async () => {
    const { upstream, a, b } = await two();
    const { server, answer } = upstream;
    a.send(call(1, "mine"));
    await server.hear(calls("mine"));
    server.send(entry("secret of A"), notification("notifications/com.example/vendor", { secret: "of A" }));
    await answer(calls("mine"), { content: [] });
    await a.response(1);
    b.send(call(1, "other"));
    await server.hear(calls("other"));
    server.send(entry("secret of B"));
    await answer(calls("other"), { content: [] });
    await b.response(1);
    expect(said(a)).toMatchObject([{ params: { data: "secret of A" } }, { params: { secret: "of A" } }]);
    expect(said(b)).toMatchObject([{ params: { data: "secret of B" } }]);
  });

  test("progress goes to the call of its token, though both clients use the same", async () => {
    const { upstream, a, b } = await two();
    const { server, answer } = upstream;
    const progressToken = 0;
    a.send(call(0, "of-a", {}, { progressToken }));
    b.send(call(0, "of-b", {}, { progressToken }));
    const tokens = await Promise.all(
      ["of-a", "of-b"].map(async (name) => ((await server.hear(calls(name)))["params"] as { _meta: JsonObject })["_meta"]["progressToken"]),
    );
    expect(tokens[0]).not.toEqual(tokens[1]);
    for (const [at, token] of tokens.entries())
      server.send(notification("notifications/progress", { progressToken: token, progress: at + 1 }));
    await answer(calls("of-b"), { content: [{ type: "text", text: "b" }] });
    await answer(calls("of-a"), { content: [{ type: "text", text: "a" }] });
    expect(await a.response(0)).toMatchObject({ result: { content: [{ text: "a" }] } });
    expect(await b.response(0)).toMatchObject({ result: { content: [{ text: "b" }] } });
    expect(said(a)).toMatchObject([{ params: { progressToken, progress: 1 } }]);
    expect(said(b)).toMatchObject([{ params: { progressToken, progress: 2 } }]);
  });

  test("one client's cancel reaches its own call", async () => {
    const { upstream, a, b } = await two();
    const { server, answer } = upstream;
    a.send(call(5, "of-a"));
    b.send(call(5, "of-b"));
    const { id } = await server.hear(calls("of-a"));
    await server.hear(calls("of-b"));
    a.send(notification("notifications/cancelled", { requestId: 5 }));
    expect(await server.hear(({ method }) => method === "notifications/cancelled")).toMatchObject({ params: { requestId: id } });
    await answer(calls("of-b"), { content: [] });
    expect(await b.response(5)).toHaveProperty("result");
    expect(upstream.heard("notifications/cancelled")).toHaveLength(1);
  });

  test("subscriptions are counted: one upstream, for as long as anyone has one", async () => {
    const { upstream, a, b } = await two();
    const { server, heard } = upstream;
    const uri = "test://live";
    a.send(request(1, "resources/subscribe", { uri }));
    b.send(request(1, "resources/subscribe", { uri }));
    await upstream.answer(({ method }) => method === "resources/subscribe", {});
    for (const raw of [a, b]) expect(await raw.response(1)).toMatchObject({ result: {} });
    expect(heard("resources/subscribe")).toHaveLength(1);
    const updates = (raw: Raw): number => raw.heard.filter(({ method }) => method === "notifications/resources/updated").length;
    server.send(notification("notifications/resources/updated", { uri }));
    await vi.waitFor(() => expect([updates(a), updates(b)]).toEqual([1, 1]), patience);
    a.send(request(2, "resources/unsubscribe", { uri }));
    await a.response(2);
    server.send(notification("notifications/resources/updated", { uri }));
    await vi.waitFor(() => expect([updates(a), updates(b)]).toEqual([1, 2]), patience);
    expect(heard("resources/unsubscribe")).toEqual([]);
    await b.close();
    await vi.waitFor(() => expect(heard("resources/unsubscribe")).toMatchObject([{ params: { uri } }]), patience);
  });

  test("an update that nobody subscribed to reaches nobody, because it may be either's", async () => {
    const { upstream, a, b } = await two();
    upstream.server.send(notification("notifications/resources/updated", { uri: "test://secret" }));
    upstream.server.send(notification("notifications/tools/list_changed"));
    for (const raw of [a, b]) await raw.hear(({ method }) => method === "notifications/tools/list_changed");
    expect([...said(a), ...said(b)]).toHaveLength(2);
  });

  test("changes of lists reach everyone", async () => {
    const { upstream, a, b } = await two();
    upstream.server.send(notification("notifications/tools/list_changed"));
    for (const raw of [a, b]) await raw.hear(({ method }) => method === "notifications/tools/list_changed");
  });
});

describe("one legacy upstream for one client", () => {
  const dial = upstreams();
  const open = opener((upstream: Upstream) => rawMemory(upstream.connection));

  test("questions and log entries of no call reach it", async () => {
    const upstream = await dial({ client: { capabilities: able } });
    const raw = open(upstream);
    await initialize(raw, "2025-11-25", able);
    await raw.during(() => {});
    upstream.server.send(question("q", "Who?"), entry("mine"));
    const { id } = await raw.hear(({ method }) => method === "elicitation/create");
    raw.send({ jsonrpc: "2.0", id, result: { action: "decline" } });
    expect(await upstream.server.response("q")).toMatchObject({ result: { action: "decline" } });
    expect(await raw.hear(({ method }) => method === "notifications/message")).toMatchObject({ params: { data: "mine" } });
  });
});

describe("two streaming clients on one connection", () => {
  const dial = upstreams();

  test("the one with a call open is asked, and hears its log entries", async () => {
    const { server, connection, answer } = await dial({ client: { capabilities: able } });
    const asked: string[] = [];
    const logged: string[] = [];
    const hooks = (name: string) => ({
      elicit: ({ message }: JsonObject) => {
        asked.push(`${name}: ${String(message)}`);
        return { action: "accept" as const };
      },
      onLog: ({ data }: JsonObject) => void logged.push(`${name}: ${String(data)}`),
    });
    const [a, b] = await Promise.all([createClient(connection, hooks("a")), createClient(connection, hooks("b"))]);
    const called = a.callTool("mine");
    await server.hear(calls("mine"));
    server.send(question(1, "secret"), entry("secret"));
    expect(await server.response(1)).toMatchObject({ result: { action: "accept" } });
    await answer(calls("mine"), { content: [] });
    await called;
    expect([asked, logged]).toEqual([["a: secret"], ["a: secret"]]);
    expect(b.server.era).toBe("legacy");
  });
});
