import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { expect, it } from "vitest";
import { createServer, type JsonObject, progress, serve } from "../../src/api/index.js";
import { call, initialize, json, LEGACY, modern, modernHeaders, open, type Rpc, until } from "./requests.js";

/** A small HTTP/2 client with prior knowledge: all requests share one connection. */
function http2(url: string): {
  request(method: string, headers: Record<string, string>, body?: JsonObject): ClientHttp2Stream;
  ask(method: string, headers: Record<string, string>, body?: JsonObject): Promise<{ status: number; session: string; messages: Rpc[] }>;
  readonly session: ClientHttp2Session;
} & Disposable {
  const session = connectHttp2(url);
  const request = (method: string, headers: Record<string, string>, body?: JsonObject): ClientHttp2Stream => {
    const stream = session.request({ ":method": method, ":path": "/mcp", ...headers });
    stream.end(body === undefined ? undefined : JSON.stringify(body));
    return stream;
  };
  return {
    session,
    request,
    async ask(method, headers, body) {
      const stream = request(method, headers, body);
      const head = new Promise<{ status: number; id: string }>((resolve, reject) => {
        stream.on("response", (found) => resolve({ status: found[":status"] as number, id: String(found["mcp-session-id"] ?? "") }));
        stream.on("error", reject);
      });
      let text = "";
      for await (const chunk of stream) text += chunk;
      const { status, id } = await head;
      const lines = text.includes("data: ") ? [...text.matchAll(/^data: (.+)$/gm)].map((found) => found[1] as string) : [text];
      return { status, session: id, messages: lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as Rpc) };
    },
    [Symbol.dispose]: () => session.destroy(),
  };
}

const modernCall = (id: number, name: string, args: JsonObject, more: JsonObject = {}): [Record<string, string>, JsonObject] => {
  const body = modern(id, "tools/call", { name, arguments: args, ...more });
  return [modernHeaders(body), body];
};

it("answers 500 calls at once on one connection", async () => {
  await using at = await open();
  using client = http2(at.url);
  const answers = await Promise.all(Array.from({ length: 500 }, (_, n) => client.ask("POST", ...modernCall(n, "echo", { n }))));
  expect(answers.map(({ status, messages }) => [status, messages[0]?.id, messages[0]?.result?.["structuredContent"]])).toEqual(
    Array.from({ length: 500 }, (_, n) => [200, n, { n }]),
  );
});

it("streams progress in order, before the result", async () => {
  await using at = await open();
  using client = http2(at.url);
  const { messages } = await client.ask("POST", ...modernCall(1, "count", { n: 20 }, { _meta: { progressToken: "t" } }));
  expect(messages.map(({ params, id }) => params?.["progress"] ?? id)).toEqual([...Array.from({ length: 20 }, (_, n) => n + 1), 1]);
});

it("holds a legacy session: handshake, GET, resume, DELETE", async () => {
  await using at = await open();
  using client = http2(at.url);
  const begun = await client.ask("POST", json, initialize());
  expect([begun.status, begun.messages[0]?.result?.["protocolVersion"]]).toEqual([200, LEGACY]);
  const session = { ...json, "mcp-session-id": begun.session, "mcp-protocol-version": LEGACY };
  expect((await client.ask("POST", session, { jsonrpc: "2.0", method: "notifications/initialized" })).status).toBe(202);
  const listening = client.request("GET", { ...session, accept: "text/event-stream" });
  await new Promise((resolve) => listening.once("response", resolve));
  expect((await client.ask("GET", { ...session, accept: "text/event-stream" })).status).toBe(409);
  at.server.tool("late", {}, () => "x").changed("tools");
  const text = String(await new Promise((resolve) => listening.once("data", resolve)));
  const id = /id: (\S+)/.exec(text)?.[1] as string;
  listening.close();
  const again = client.request("GET", { ...session, accept: "text/event-stream", "last-event-id": id });
  expect(await new Promise((resolve) => again.once("response", (head) => resolve(head[":status"])))).toBe(200);
  expect((await client.ask("DELETE", session)).status).toBe(204);
  await new Promise((resolve) => again.once("end", resolve).resume());
});

it("cancels a modern call when its stream is reset, and no other", async () => {
  await using at = await open();
  using client = http2(at.url);
  const streams = ["one", "two"].map((key) => client.request("POST", ...modernCall(1, "wait", { key })));
  await until(() => at.waiting.size === 2);
  for (const stream of streams) stream.on("error", () => {});
  streams[0]?.close(8);
  await until(() => !at.waiting.has("one"));
  expect(at.waiting.has("two")).toBe(true);
  client.session.destroy();
  await until(() => at.waiting.size === 0);
});

it("goes on with a legacy call when its stream is reset", async () => {
  await using at = await open();
  using client = http2(at.url);
  const { session: id } = await client.ask("POST", json, initialize());
  const session = { ...json, "mcp-session-id": id };
  await client.ask("POST", session, { jsonrpc: "2.0", method: "notifications/initialized" });
  const stream = client.request("POST", session, call(1, "wait", { key: "kept" }));
  stream.on("error", () => {});
  await until(() => at.waiting.has("kept"));
  stream.close(8);
  expect((await client.ask("POST", session, { jsonrpc: "2.0", id: 2, method: "tools/list" })).status).toBe(200);
  expect(at.waiting.has("kept")).toBe(true);
});

it("serves HTTP/1.1 and HTTP/2 on the same port at once, and closes both", async () => {
  const at = await open();
  using client = http2(at.url);
  const [two, one] = await Promise.all([
    client.ask("POST", ...modernCall(1, "echo", { v: 2 })),
    fetch(at.url, { method: "POST", headers: modernCall(1, "echo", {})[0], body: JSON.stringify(modernCall(1, "echo", {})[1]) }),
  ]);
  expect([two.status, one.status]).toEqual([200, 200]);
  const gone = new Promise((resolve) => client.session.once("close", resolve));
  await at.listener.close();
  await gone;
});

it("holds up the source of a stream that is not read", async () => {
  let made = 0;
  const server = createServer({ name: "x", version: "1" })
    .tool("flood", {}, async function* () {
      for (; made < 50_000; made++) yield progress(made, 50_000, "x".repeat(1_000));
      return "done";
    })
    .tool("echo", {}, (args) => ({ content: [], structuredContent: args }));
  await using listener = await serve(server, "http://127.0.0.1:0");
  using client = http2(listener.address);
  const stream = client.request("POST", ...modernCall(1, "flood", {}, { _meta: { progressToken: 1 } }));
  stream.on("error", () => {});
  await new Promise((resolve) => stream.once("response", resolve));
  stream.pause();
  for (let before = -1; before !== made; ) {
    before = made;
    for (let n = 0; n < 10; n++) expect((await client.ask("POST", ...modernCall(n, "echo", { n }))).status).toBe(200);
  }
  expect(made).toBeLessThan(5_000);
  stream.close(8);
});
