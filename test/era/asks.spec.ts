import { describe, expect, test, vi } from "vitest";
import { ask, createClient, createServer, elicit, type JsonObject, log, type Service } from "../../src/core/index.js";
import { patience } from "../fixtures/children/index.js";
import { call, envelope, initialize, notification, opener, rawMemory, rawWires } from "../fixtures/raw.js";
import { calls, upstreams } from "../fixtures/upstream.js";

const isAsk = ({ method, id }: JsonObject): boolean => method === "elicitation/create" && id !== undefined;

for (const wire of rawWires) {
  describe(`questions to a legacy client on ${wire.name}`, () => {
    const open = opener(wire.open);

    test("cancelling the call withdraws its question", async () => {
      const raw = open();
      await initialize(raw, "2025-11-25", { elicitation: {} });
      raw.send(call(1, "ask-form"));
      const { id } = await raw.hear(isAsk);
      raw.send(notification("notifications/cancelled", { requestId: 1, reason: "enough" }));
      const withdrawn = await raw.hear(({ method }) => method === "notifications/cancelled");
      expect(withdrawn).toMatchObject({ params: { requestId: id, reason: "enough" } });
      // An answer that was on its way is nobody's.
      const told = await raw.during(() => raw.send({ jsonrpc: "2.0", id: id as string, result: { action: "accept" } }));
      expect(told).toEqual([]);
    });

    test("a question that the server withdraws is cancelled, and its call goes on", async () => {
      const raw = open();
      await initialize(raw, "2025-11-25", { elicitation: {} });
      raw.send(call(1, "ask-withdrawn"));
      const { id } = await raw.hear(isAsk);
      expect(await raw.hear(({ method }) => method === "notifications/cancelled")).toMatchObject({ params: { requestId: id } });
      expect(await raw.response(1)).toMatchObject({ result: { content: [{ text: "withdrawn" }] } });
    });

    test("a client that refuses is heard, with its code", async () => {
      const raw = open();
      await initialize(raw, "2025-11-25", { elicitation: {} });
      raw.send(call(1, "ask-refused"), call(2, "ask-form"));
      await vi.waitFor(() => expect(raw.heard.filter(isAsk)).toHaveLength(2), patience);
      for (const { id } of raw.heard.filter(isAsk)) raw.send({ jsonrpc: "2.0", id, error: { code: -1, message: "no", data: [1] } });
      expect(JSON.stringify(await raw.response(1))).toContain("refused: application no");
      expect(await raw.response(2)).toMatchObject({ error: { code: -1, message: "no", data: [1] } });
    });

    test("a client that did not say it can be asked is not asked", async () => {
      const raw = open();
      await initialize(raw);
      raw.send(call(1, "ask-refused"), call(2, "ask-model"), call(3, "ask-roots"));
      expect(JSON.stringify(await raw.response(1))).toContain("missing-capability");
      for (const id of [2, 3]) expect(await raw.response(id)).toMatchObject({ error: { code: -32021 } });
      expect(raw.heard.filter(({ method, id }) => method !== undefined && id !== undefined)).toEqual([]);
    });
  });
}

describe("what a handler may ask a legacy client", () => {
  const heard: unknown[] = [];
  const service = (): Service =>
    createServer({ name: "asker", version: "1" })
      .tool("form", {}, async function* () {
        const answer = yield* elicit({ message: "Who?" }, { onProgress: (progress) => heard.push(progress) });
        return { content: [], structuredContent: answer };
      })
      .tool("vendor", {}, async function* () {
        return { content: [], structuredContent: yield* ask("com.example/confirm", { sure: true }) };
      });
  const open = opener(() => rawMemory(service()));

  test("how the answer is coming on", async () => {
    heard.length = 0;
    const raw = open();
    await initialize(raw, "2025-11-25", { elicitation: {} });
    raw.send(call(1, "form"));
    const { id, params } = await raw.hear(isAsk);
    const { progressToken } = (params as { _meta: JsonObject })["_meta"];
    expect(progressToken).toBeDefined();
    raw.send(
      notification("notifications/progress", { progressToken, progress: 1, total: 2, message: "thinking" }),
      notification("notifications/progress", { progressToken: "another", progress: 9 }),
      { jsonrpc: "2.0", id, result: { action: "decline" } },
      notification("notifications/progress", { progressToken, progress: 2 }),
    );
    expect(await raw.response(1)).toMatchObject({ result: { structuredContent: { action: "decline" } } });
    expect(heard).toEqual([{ progress: 1, total: 2, message: "thinking" }]);
  });

  test("a question that the specification does not name", async () => {
    const raw = open();
    await initialize(raw);
    raw.send(call(1, "vendor"));
    const { id, params } = await raw.hear(({ method }) => method === "com.example/confirm");
    expect(params).toEqual({ sure: true });
    raw.send({ jsonrpc: "2.0", id, result: { yes: [null, 1] } });
    expect(await raw.response(1)).toMatchObject({ result: { structuredContent: { yes: [null, 1] } } });
  });

  test("but not a modern one, who has no place for it", async () => {
    const raw = open();
    raw.send(call(1, "vendor", {}, envelope()));
    expect(await raw.response(1)).toMatchObject({ error: { code: -32601, message: expect.stringContaining("com.example/confirm") } });
  });
});

describe("what a legacy server may ask our client", () => {
  const dial = upstreams();

  test("how an answer is coming on, and it may withdraw the question", async () => {
    const { server, connection, answer } = await dial({ client: { capabilities: { elicitation: {} } } });
    const signals: AbortSignal[] = [];
    const client = await createClient(connection, {
      elicit: async ({ message }, { progress, signal }) => {
        signals.push(signal);
        progress(1, 3, message);
        if (message === "for ever") await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return { action: "accept" };
      },
    });
    const called = client.callTool("t");
    await server.hear(calls("t"));
    server.send(
      { jsonrpc: "2.0", id: "q", method: "elicitation/create", params: { message: "Who?", _meta: { progressToken: "tok" } } },
      { jsonrpc: "2.0", id: 7, method: "elicitation/create", params: { message: "Quietly?" } },
      { jsonrpc: "2.0", id: "7", method: "elicitation/create", params: { message: "for ever" } },
    );
    for (const id of ["q", 7]) expect(await server.response(id)).toMatchObject({ result: { action: "accept" } });
    const progress = server.heard.filter(({ method }) => method === "notifications/progress");
    expect(progress).toMatchObject([{ params: { progressToken: "tok", progress: 1, total: 3, message: "Who?" } }]);
    server.send(notification("notifications/cancelled", { requestId: "7", reason: "too late" }));
    await vi.waitFor(() => expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, true]), patience);
    await answer(calls("t"), { content: [] });
    await called;
    expect(server.heard.filter(({ id }) => id === "7")).toEqual([]);
  });

  test("anything that it answers by name; and nothing it does not", async () => {
    const { server, connection } = await dial();
    const client = await createClient(connection, { asks: { "com.example/confirm": (params) => ({ got: params }) } });
    server.send(
      { jsonrpc: "2.0", id: 1, method: "com.example/confirm", params: { sure: [1] } },
      { jsonrpc: "2.0", id: 2, method: "com.example/other" },
      { jsonrpc: "2.0", id: 3, method: "elicitation/create", params: { message: "Who?" } },
      { jsonrpc: "2.0", id: 4, method: "ping" },
    );
    expect(await server.response(1)).toMatchObject({ result: { got: { sure: [1] } } });
    for (const id of [2, 3]) expect(await server.response(id)).toMatchObject({ error: { code: -32601 } });
    expect(await server.response(4)).toMatchObject({ result: {} });
    await client.close();
  });

  test("a call that ends answers the questions that were asked for it", async () => {
    const { server, connection } = await dial({ client: { capabilities: { elicitation: {} } } });
    let asked = false;
    const client = await createClient(connection, {
      elicit: () => {
        asked = true;
        return new Promise(() => {});
      },
    });
    const abort = new AbortController();
    const called = client.callTool("t", {}, { signal: abort.signal });
    const { id } = await server.hear(calls("t"));
    server.send({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: { message: "Who?" } });
    await vi.waitFor(() => expect(asked).toBe(true), patience);
    abort.abort();
    await expect(called).rejects.toMatchObject({ code: "cancelled" });
    expect(await server.hear(({ method }) => method === "notifications/cancelled")).toMatchObject({ params: { requestId: id } });
    expect(await server.response("q")).toMatchObject({ error: expect.any(Object) });
  });

  test("an id that it uses twice at a time is its own mistake, and the first question is answered", async () => {
    const { server, connection, faults } = await dial({ client: { capabilities: { elicitation: {} } } });
    let release: () => void = () => {};
    const client = await createClient(connection, {
      elicit: async () => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return { action: "accept" };
      },
    });
    const question = { jsonrpc: "2.0", id: 1, method: "elicitation/create", params: { message: "Who?" } };
    server.send(question, question);
    await vi.waitFor(() => expect(faults).toHaveLength(1), patience);
    release();
    expect(await server.response(1)).toMatchObject({ result: { action: "accept" } });
    await client.close();
  });
});

test("logs of a call go to its session at the level of that session", async () => {
  const service = createServer({ name: "logs", version: "1" }).tool("t", {}, async function* () {
    yield log("debug", "d");
    yield log("error", "e");
    return "t";
  });
  const raw = rawMemory(service);
  await initialize(raw);
  const data = (): unknown[] =>
    raw.heard.filter(({ method }) => method === "notifications/message").map(({ params }) => (params as JsonObject)["data"]);
  raw.send(call(1, "t"));
  await raw.response(1);
  expect(data()).toEqual(["e"]);
  raw.send({ jsonrpc: "2.0", id: 2, method: "logging/setLevel", params: { level: "debug" } }, call(3, "t"));
  await raw.response(3);
  expect(data()).toEqual(["e", "d", "e"]);
  await raw.close();
});
