import { describe, expect, it } from "vitest";
import { connect } from "../../src/api/index.js";
import { begin, call, events, initialize, modern, open, post, postModern, rpc, until } from "./requests.js";

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

describe.each([{ stateless: true }, { jsonOnly: true }])("legacy without sessions: %o", (options) => {
  it("answers a bare request that takes JSON only", async () => {
    await using at = await open(options);
    const answer = await post(at.url, list, { accept: "application/json" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("mcp-session-id")).toBeNull();
    expect((await rpc(answer)).result?.["tools"]).toHaveLength(3);
  });

  it("answers a handshake, and what follows it, without a session", async () => {
    await using at = await open(options);
    const answer = await post(at.url, initialize());
    expect([answer.status, answer.headers.get("mcp-session-id")]).toEqual([200, null]);
    expect((await rpc(answer)).result?.["protocolVersion"]).toBe("2025-11-25");
    expect((await post(at.url, { jsonrpc: "2.0", method: "notifications/initialized" })).status).toBe(202);
    await using client = await connect(at.url, { era: "legacy" });
    expect((await client.callTool("echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
  });

  it("has no stream to GET and no session to DELETE", async () => {
    await using at = await open(options);
    for (const method of ["GET", "DELETE"]) {
      const answer = await fetch(at.url, { method, headers: { accept: "text/event-stream" } });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    }
  });

  it("answers a batch of 2025-03-26 together", async () => {
    await using at = await open(options);
    const answer = await post(at.url, [list, { ...list, id: 2 }, { jsonrpc: "2.0", method: "notifications/x" }]);
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as { id: number }[]).map(({ id }) => id).sort()).toEqual([1, 2]);
    const later = await post(at.url, [list], { "mcp-protocol-version": "2025-06-18" });
    expect([later.status, (await rpc(later)).error?.code]).toEqual([400, -32600]);
  });
});

it("streams without sessions where the client takes a stream, and never where only JSON is served", async () => {
  const counted = call(1, "count", { n: 3 }, { _meta: { progressToken: "t" } });
  await using streaming = await open({ stateless: true });
  const answer = await post(streaming.url, counted);
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const seen = [];
  for await (const { message } of events(answer)) seen.push(message?.method ?? message?.id);
  expect(seen).toEqual(["notifications/progress", "notifications/progress", "notifications/progress", 1]);
  await using plain = await open({ jsonOnly: true });
  const alone = await post(plain.url, counted);
  expect([alone.headers.get("content-type"), (await rpc(alone)).id]).toEqual(["application/json", 1]);
  const body = modern(2, "tools/call", { name: "count", arguments: { n: 3 }, _meta: { progressToken: "t" } });
  expect((await postModern(plain.url, body)).headers.get("content-type")).toBe("application/json");
});

describe("legacy sessions", () => {
  it("begin with initialize and end with DELETE", async () => {
    await using at = await open();
    const session = await begin(at.url);
    expect(session["mcp-session-id"]).toMatch(/^[\w-]{22}$/);
    expect((await rpc(post(at.url, list, session))).id).toBe(1);
    expect((await post(at.url, list)).status).toBe(400);
    expect((await fetch(at.url, { method: "DELETE", headers: session })).status).toBe(204);
    expect((await post(at.url, list, session)).status).toBe(404);
  });

  it("are not begun by an initialize that fails", async () => {
    await using at = await open({ maxSessions: 1 });
    const failed = await post(at.url, { ...initialize(), params: {} });
    expect([failed.headers.get("mcp-session-id"), (await rpc(failed)).error?.code]).toEqual([null, -32602]);
    const session = await begin(at.url);
    expect((await post(at.url, initialize())).status).toBe(429);
    await fetch(at.url, { method: "DELETE", headers: session });
    expect((await post(at.url, initialize())).status).toBe(200);
  });

  it("end when they were idle for too long, but not while a stream is open", async () => {
    await using at = await open({ idleMs: 50, keepAliveMs: 20 });
    const idle = await begin(at.url);
    const kept = await begin(at.url);
    const stream = await fetch(at.url, { headers: { ...kept, accept: "text/event-stream" } });
    await until(async () => (await post(at.url, { jsonrpc: "2.0", id: 9, method: "ping" }, { ...idle })).status === 404 || pause(200));
    expect((await rpc(post(at.url, list, kept))).id).toBe(1);
    await stream.body?.cancel();
  });

  it("take batches of 2025-03-26 only, with the progress of each call on their stream", async () => {
    await using at = await open();
    const old = await begin(at.url, {}, "2025-03-26");
    const batch = [
      list,
      call("b", "count", { n: 2 }, { _meta: { progressToken: "p" } }),
      { jsonrpc: "2.0", method: "notifications/x" },
      { jsonrpc: "2.0", id: true, method: "x" },
    ];
    const answer = await post(at.url, batch, old);
    const seen: unknown[] = [];
    for await (const { message } of events(answer)) if (message !== undefined) seen.push(message);
    expect(seen.slice(0, -1)).toMatchObject([{ method: "notifications/progress" }, { method: "notifications/progress" }]);
    expect((seen.at(-1) as { id: unknown }[]).map(({ id }) => String(id)).sort()).toEqual(["1", "b", "null"]);
    const bad = await post(at.url, [{ jsonrpc: "2.0", id: true, method: "x" }], old);
    expect((await bad.json()) as unknown).toMatchObject([{ id: null, error: { code: -32600 } }]);
    const refused = await post(at.url, [list], await begin(at.url));
    expect([refused.status, (await rpc(refused)).error?.code]).toEqual([400, -32600]);
  });

  it("let go of a call that was cancelled, before and after its stream began", async () => {
    await using at = await open();
    const session = await begin(at.url);
    for (const [id, meta] of [
      ["a", {}],
      ["b", { _meta: { progressToken: 1 } }],
    ] as const) {
      const answer = post(at.url, call(id, "wait", { key: id }, meta), session);
      await until(() => at.waiting.has(id));
      expect((await post(at.url, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } }, session)).status).toBe(
        202,
      );
      expect(await (await answer).text()).toBe("");
      await until(() => !at.waiting.has(id));
    }
    // The ids may be used again: nothing of the calls is left.
    expect((await rpc(post(at.url, { ...list, id: "a" }, session))).id).toBe("a");
  });

  it("go on with a call whose client went away, and keep its answer", async () => {
    await using at = await open();
    const session = await begin(at.url);
    const abort = new AbortController();
    const gone = post(at.url, call(5, "wait", { key: "gone" }), session, abort.signal).catch(() => "gone");
    await until(() => at.waiting.has("gone"));
    abort.abort();
    expect(await gone).toBe("gone");
    expect(at.waiting.has("gone")).toBe(true);
    await fetch(at.url, { method: "DELETE", headers: session });
    await until(() => !at.waiting.has("gone"));
  });
});

it("cancels a modern call whose client went away", async () => {
  await using at = await open();
  const abort = new AbortController();
  const body = modern(1, "tools/call", { name: "wait", arguments: { key: "m" } });
  const gone = post(at.url, body, { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "wait" }, abort.signal);
  gone.catch(() => {});
  await until(() => at.waiting.has("m"));
  abort.abort();
  await until(() => !at.waiting.has("m"));
});

it("serves both eras on one endpoint at once", async () => {
  await using at = await open();
  await using old = await connect(at.url, { era: "legacy" });
  await using young = await connect(at.url, { era: "modern" });
  const echoed = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => (await (n % 2 === 0 ? old : young).callTool("echo", { n })).structuredContent),
  );
  expect(echoed).toEqual(Array.from({ length: 100 }, (_, n) => ({ n })));
});

async function pause(ms: number): Promise<false> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return false;
}
