import { connect as connectTcp, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { begin, call, events, json, LEGACY, modern, modernHeaders, open, post, postModern, type Rpc, rpc, until } from "./requests.js";

let at: Awaited<ReturnType<typeof open>>;
let session: Record<string, string>;
beforeAll(async () => {
  at = await open();
  session = await begin(at.url);
});
afterAll(() => at[Symbol.asyncDispose]());

/** The status and the JSON-RPC code that a POST is answered with. */
async function refused(body: unknown, headers: Record<string, string> = {}): Promise<[number, number | undefined]> {
  const answer = await post(at.url, body, headers);
  const { error, id } = await rpc(answer);
  expect(id === null || id !== undefined).toBe(true);
  return [answer.status, error?.code];
}
const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

describe("a POST that is no request", () => {
  it.each([
    ["no JSON", "{", 400, -32700],
    ["nothing", "", 400, -32700],
    ["bad UTF-8 escapes", '{"jsonrpc":"2.0","id":1,"method":"\\u12"}', 400, -32700],
    ["no message", "{}", 400, -32600],
    ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
    ["an id that is none", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400, -32600],
    ["params by position", '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', 400, -32602],
    ["an empty batch", "[]", 400, -32600],
    ["a number", "17", 400, -32600],
    ["JSON nested too deep", `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(1e5)}1${"}".repeat(1e5)}}`, 413, -31001],
    ["brackets nested too deep", "[".repeat(1e5), 413, -31001],
  ])("%s", async (_what, body, status, code) => {
    // A client that names a legacy version hears of a limit in the numbers of that.
    expect(await refused(body, session)).toEqual([status, code === -31001 ? -32000 : code]);
    expect(await refused(body)).toEqual([status, code]);
  });

  it("bytes that are no UTF-8", async () => {
    const answer = await fetch(at.url, { method: "POST", headers: { ...json, ...session }, body: Buffer.from([0x7b, 0xff, 0x7d]) });
    expect([answer.status, (await rpc(answer)).error?.code]).toEqual([400, -32700]);
  });

  it("another Content-Type, or none", async () => {
    for (const type of ["text/plain", "application/jsonp", "multipart/form-data", "application/x-www-form-urlencoded"])
      expect(await refused(list, { ...session, "content-type": type })).toEqual([415, -32600]);
    expect((await post(at.url, list, { ...session, "content-type": "application/json; charset=utf-8" })).status).toBe(200);
  });

  it("an Accept that leaves nothing to answer with", async () => {
    expect(await refused(list, { ...session, accept: "text/html" })).toEqual([406, -32600]);
    expect(await refused(list, { ...session, accept: "application/json" })).toEqual([406, -32600]);
    expect(await refused(list, { ...session, accept: "text/event-stream" })).toEqual([406, -32600]);
    expect((await post(at.url, list, { ...session, accept: "*/*" })).status).toBe(200);
    expect((await fetch(at.url, { headers: { ...session, accept: "application/json" } })).status).toBe(406);
  });

  it("a modern client may take either alone", async () => {
    const body = modern(1, "tools/list");
    expect((await postModern(at.url, body, { accept: "application/json" })).headers.get("content-type")).toBe("application/json");
    expect((await postModern(at.url, body, { accept: "text/event-stream" })).headers.get("content-type")).toBe("text/event-stream");
  });
});

describe("a session that is none", () => {
  it("missing, unknown, or of a version that is none", async () => {
    expect(await refused(list)).toEqual([400, -32600]);
    expect(await refused(list, { "mcp-session-id": "no-such" })).toEqual([404, -32600]);
    expect(await refused(list, { "mcp-session-id": `${session["mcp-session-id"]}, x` })).toEqual([404, -32600]);
    expect(await refused(list, { ...session, "mcp-protocol-version": "1999-12-31" })).toEqual([400, -32022]);
  });

  it("before it is ready, and twice", async () => {
    const first = await post(at.url, { ...list, method: "initialize", params: { protocolVersion: LEGACY, capabilities: {} } });
    await first.text();
    const early = { "mcp-session-id": first.headers.get("mcp-session-id") as string };
    expect((await rpc(post(at.url, list, early))).error?.code).toBe(-32600);
  });
});

it("an id that is still in use is refused, and the call that uses it goes on", async () => {
  const abort = new AbortController();
  const first = post(at.url, call(7, "wait", { key: "dup" }), session, abort.signal).catch(() => {});
  await until(() => at.waiting.has("dup"));
  expect(await refused({ ...list, id: 7 }, session)).toEqual([400, -32600]);
  expect(at.waiting.has("dup")).toBe(true);
  await post(at.url, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } }, session);
  await first;
  expect((await post(at.url, { ...list, id: 7 }, session)).status).toBe(200);
});

it("a modern request without its envelope, a batch, a response, an unknown method and version", async () => {
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
  expect(await refused(list, headers)).toEqual([400, -32602]);
  expect(await refused([modern(1, "tools/list")], headers)).toEqual([400, -32600]);
  expect(await refused({ jsonrpc: "2.0", id: 1, result: {} }, headers)).toEqual([400, -32600]);
  expect(await refused(modern(1, "no/such"), { ...headers, "mcp-method": "no/such" })).toEqual([404, -32601]);
  const future = modern(1, "tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" } });
  expect(await refused(future, { ...headers, "mcp-protocol-version": "2099-01-01" })).toEqual([400, -32022]);
  expect(await refused(future, headers)).toEqual([400, -32020]);
});

it("other methods and paths", async () => {
  for (const method of ["PUT", "PATCH", "HEAD"]) expect((await fetch(at.url, { method, headers: session })).status).toBe(405);
  expect((await post(`${at.url}/x`, list, session)).status).toBe(404);
});

function tcp(url: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host: "127.0.0.1", port: Number(new URL(url).port), allowHalfOpen: true }, () => resolve(socket));
  });
}

describe("connections that behave oddly", () => {
  it("a client that closes its sending side is still answered", async () => {
    const body = JSON.stringify(modern(1, "tools/call", { name: "count", arguments: { n: 5 }, _meta: { progressToken: 1 } }));
    const head = Object.entries(modernHeaders(JSON.parse(body))).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = await tcp(at.url);
    socket.end(`POST /mcp HTTP/1.1\r\nHost: localhost\r\n${head.join("")}Content-Length: ${body.length}\r\n\r\n${body}`);
    let text = "";
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(/^HTTP\/1.1 200/);
    expect(text.match(/notifications\/progress/g)?.length).toBe(5);
    expect(text).toContain('"counted"');
  });

  it("a request that breaks off is forgotten", async () => {
    const socket = await tcp(at.url);
    socket.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{");
    socket.destroy();
    const garbage = await tcp(at.url);
    garbage.write("\0\x01\x02garbage\r\n\r\n");
    let text = "";
    for await (const chunk of garbage) text += chunk;
    expect(text).toMatch(/^HTTP\/1.1 400/);
    expect((await post(at.url, list, session)).status).toBe(200);
  });

  it("a flood of tiny frames is answered one by one, in bounds", async () => {
    await using ws = await open({}, "ws");
    const socket = new WebSocket(ws.url);
    await new Promise((resolve) => socket.once("open", resolve));
    const N = 20_000;
    let bad = 0;
    const all = new Promise<void>((resolve) =>
      socket.on("message", (data) => {
        if ((JSON.parse(String(data)) as Rpc).error?.code === -32600 && ++bad === N) resolve();
      }),
    );
    for (let sent = 0; sent < N; sent++) socket.send("{}");
    await all;
    const closed = new Promise<number>((resolve) => socket.once("close", resolve));
    socket.send(Buffer.from([1, 2, 3]));
    expect(await closed).toBe(1003);
  });

  it("nothing of all this is left behind", async () => {
    const stream = await fetch(at.url, { headers: { ...session, accept: "text/event-stream" } });
    await stream.body?.cancel();
    await until(async () => {
      const again = await fetch(at.url, { headers: { ...session, accept: "text/event-stream" } });
      await again.body?.cancel();
      return again.status === 200;
    });
    const answer = await post(at.url, call("last", "count", { n: 1 }, { _meta: { progressToken: 1 } }), session);
    const ids = [];
    for await (const { message } of events(answer)) ids.push(message?.id);
    expect(ids.at(-1)).toBe("last");
    expect(at.waiting.size).toBe(0);
  });
});
