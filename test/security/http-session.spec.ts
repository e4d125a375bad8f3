import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { createServer, elicit, serve } from "../../src/api/index.js";
import { randomToken } from "../../src/era/index.js";
import { begin, call, events, modern, open, post, postModern, type Rpc, rpc } from "../http/requests.js";

/** Whoever holds the token "a" is a. */
const auth = { verify: (token: string) => ({ id: token }) };
const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` });
const sse = { accept: "text/event-stream" };

describe("10: another's session id", () => {
  it("is not found, and the owner's stream is untouched", async () => {
    await using at = await open({ auth, keepAliveMs: 20 });
    const session = await begin(at.url, as("a"));
    const stream = await fetch(at.url, { headers: { ...session, ...sse } });
    const stolen = { ...session, ...as("b") };
    expect((await post(at.url, { jsonrpc: "2.0", id: 1, method: "tools/list" }, stolen)).status).toBe(404);
    expect((await post(at.url, { jsonrpc: "2.0", id: 1, method: "initialize" }, stolen)).headers.get("mcp-session-id")).toBeNull();
    expect((await fetch(at.url, { headers: { ...stolen, ...sse } })).status).toBe(404);
    expect((await fetch(at.url, { method: "DELETE", headers: stolen })).status).toBe(404);
    at.server.tool("late", {}, () => "x").changed("tools");
    const [first] = await take(events(stream), 1);
    expect(first?.message?.method).toBe("notifications/tools/list_changed");
  });

  it("is not found over HTTP+SSE either", async () => {
    await using at = await open({ auth }, "sse+http");
    const stream = await fetch(at.url, { headers: as("a") });
    const text = new TextDecoder().decode((await stream.body?.getReader().read())?.value);
    const target = new URL(/data: (\S+)/.exec(text)?.[1] as string, at.url).href;
    const body = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await post(target, body, as("b"))).status).toBe(404);
    expect((await post(target, body)).status).toBe(401);
    expect((await post(target, body, as("a"))).status).toBe(202);
  });
});

it("11: a second GET never silently replaces the first", async () => {
  await using at = await open();
  const session = await begin(at.url);
  const stream = await fetch(at.url, { headers: { ...session, ...sse } });
  expect((await fetch(at.url, { headers: { ...session, ...sse } })).status).toBe(409);
  at.server.tool("late", {}, () => "x").changed("tools");
  const [first] = await take(events(stream), 1);
  expect(first?.message?.method).toBe("notifications/tools/list_changed");
});

it("12: session ids are 128 random bits", async () => {
  await using at = await open();
  const [one, two] = [await begin(at.url), await begin(at.url)].map((session) => session["mcp-session-id"] as string);
  expect(one).not.toBe(two);
  expect(Buffer.from(one as string, "base64url").byteLength).toBe(16);
  const ids = new Set<string>();
  const ones = new Uint32Array(128);
  for (let count = 0; count < 1_000_000; count++) {
    const id = randomToken();
    ids.add(id);
    if (count % 100 !== 0) continue;
    for (const [at, byte] of Buffer.from(id, "base64url").entries())
      for (let bit = 0; bit < 8; bit++) ones[8 * at + bit] = (ones[8 * at + bit] as number) + ((byte >> bit) & 1);
  }
  expect(ids.size).toBe(1_000_000);
  // Of 10,000 each bit is set in half, give or take ten standard deviations.
  for (const count of ones) expect(Math.abs(count - 5_000)).toBeLessThan(500);
}, 120_000);

it("13, 14: an event id of another session or stream is not replayed", async () => {
  await using at = await open({ auth });
  const [a, b] = [await begin(at.url, as("a")), await begin(at.url, as("b"))];
  const ids: string[] = [];
  for (const id of [1, 2])
    for await (const event of events(await post(at.url, call(id, "count", { n: 2 }, { _meta: { progressToken: id } }), a)))
      ids.push(event.id as string);
  const resume = (session: Record<string, string>, last: string) =>
    fetch(at.url, { headers: { ...session, ...sse, "last-event-id": last } });
  // With b's own session, with a's, and with one of b's own streams renamed.
  expect((await resume(b, ids[0] as string)).status).toBe(410);
  expect((await resume({ ...a, ...as("b") }, ids[0] as string)).status).toBe(404);
  const streams = [...new Set(ids.map((id) => id.slice(0, id.lastIndexOf("_"))))];
  expect(streams.length).toBe(2);
  const replayed: unknown[] = [];
  for await (const { message } of events(await resume(a, ids[0] as string)))
    replayed.push(message?.params?.["progressToken"] ?? message?.id);
  expect(replayed).toEqual([1, 1, 1]);
});

describe("15: a requestState", () => {
  const asking = () =>
    createServer({ name: "x", version: "1" }).tool("ask", {}, async function* () {
      const answer = yield* elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } });
      return JSON.stringify(answer);
    });
  const form = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
  const asked = (more: object = {}) => modern(1, "tools/call", { name: "ask", arguments: {}, _meta: form, ...more });
  const answers = (required: Rpc) =>
    Object.fromEntries(Object.keys(required.result?.["inputRequests"] as object).map((key) => [key, { action: "accept", content: {} }]));

  it("that was tampered with, is another's or for another request is refused", async () => {
    await using listener = await serve(asking(), "http://127.0.0.1:0", { auth });
    const required = await rpc(postModern(listener.address, asked(), as("a")));
    const state = required.result?.["requestState"] as string;
    expect(required.result?.["resultType"]).toBe("input_required");
    const retry = (requestState: string, who = "a", more: object = {}) =>
      rpc(postModern(listener.address, asked({ inputResponses: answers(required), requestState, ...more }), as(who)));
    const [mark, token, body, signature] = state.split(".") as [string, string, string, string];
    const forged = createHmac("sha256", "guess").update(Buffer.from(body, "base64url")).digest("base64url");
    const flipped = Buffer.from(body, "base64url");
    flipped[0] = (flipped[0] as number) ^ 1;
    for (const bad of [
      `${mark}.${token}.${body}.${forged}`,
      `${mark}.${token}.${flipped.toString("base64url")}.${signature}`,
      `${mark}.${token}.${body}`,
      `${state}x`,
    ])
      expect((await retry(bad)).error?.code).toBe(-32602);
    expect((await retry(state, "b")).error?.code).toBe(-32602);
    expect((await retry(state, "a", { arguments: { other: 1 } })).error?.code).toBe(-32602);
    // It was none of those: the owner's own retry still goes through, once.
    expect((await retry(state)).result?.["content"]).toMatchObject([{ type: "text" }]);
    expect((await retry(state)).error?.code).toBe(-32602);
  });

  it("that has expired is refused", async () => {
    await using listener = await serve(asking(), "http://127.0.0.1:0", { limits: { answerMs: 1 } });
    const required = await rpc(postModern(listener.address, asked()));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const requestState = required.result?.["requestState"];
    expect((await rpc(postModern(listener.address, asked({ inputResponses: answers(required), requestState })))).error?.code).toBe(-32602);
  });
});

describe("16: two clients that use the same id at once", () => {
  const N = 1_000;
  it("get their own answers over HTTP, in either era", async () => {
    await using at = await open();
    const sessions = [await begin(at.url), await begin(at.url)];
    const one = async (who: number, n: number): Promise<boolean> => {
      const args = { who, n };
      const body = modern(0, "tools/call", { name: "echo", arguments: args });
      const answer = n % 2 === 0 ? postModern(at.url, body) : post(at.url, call(0, "echo", args), sessions[who] as Record<string, string>);
      const { id, result } = await rpc(answer);
      return id === 0 && JSON.stringify(result?.["structuredContent"]) === JSON.stringify(args);
    };
    const rounds = Array.from({ length: N }, (_, n) => n);
    const both = await Promise.all(
      [0, 1].map(async (who) => {
        let right = 0;
        // Within a session an id is used again only when it is free.
        for (const n of rounds) if (await one(who, n)) right++;
        return right;
      }),
    );
    expect(both).toEqual([N, N]);
  }, 60_000);

  it("get their own answers over WebSocket", async () => {
    await using at = await open({}, "ws");
    const both = await Promise.all(
      [0, 1].map(
        (who) =>
          new Promise<number>((resolve) => {
            const socket = new WebSocket(at.url);
            let right = 0;
            let n = 0;
            const send = () => socket.send(JSON.stringify(modern(0, "tools/call", { name: "echo", arguments: { who, n } })));
            socket.on("open", send);
            socket.on("message", (data) => {
              const { id, result } = JSON.parse(String(data)) as Rpc;
              if (id === 0 && JSON.stringify(result?.["structuredContent"]) === JSON.stringify({ who, n })) right++;
              if (++n < N) return send();
              socket.close();
              return resolve(right);
            });
          }),
      ),
    );
    expect(both).toEqual([N, N]);
  }, 60_000);
});

async function take<T>(from: AsyncGenerator<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const each of from) if (taken.push(each) === count) break;
  return taken;
}
