import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { begin, json, modern, open, postModern } from "../http/requests.js";

const LIMIT = 1024 * 1024;
/** Small when packed: a message of 64 MiB. */
const bomb = gzipSync(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${" ".repeat(64 * LIMIT)}"}}`);

/** Opens a raw connection to a listener. */
function tcp(url: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host: "127.0.0.1", port: Number(new URL(url).port) }, () => resolve(socket));
    socket.on("error", reject);
  });
}

/** What a peer says until it closes. */
async function said(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  await new Promise((resolve) => socket.on("close", resolve));
  return text;
}

const alive = async (url: string): Promise<boolean> => (await postModern(url, modern(1, "tools/list"))).status === 200;

describe("25: what is small when packed", () => {
  it("is not unpacked over HTTP and HTTP+SSE", async () => {
    await using at = await open({ limits: { messageBytes: LIMIT } });
    const before = process.memoryUsage().rss;
    const session = await begin(at.url);
    for (const encoding of ["gzip", "deflate", "br", "zstd"]) {
      const answer = await fetch(at.url, { method: "POST", headers: { ...json, ...session, "content-encoding": encoding }, body: bomb });
      expect(answer.status).toBe(415);
    }
    // As it is, it is not a message either.
    expect((await fetch(at.url, { method: "POST", headers: { ...json, ...session }, body: bomb })).status).toBe(400);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * LIMIT);
    expect(await alive(at.url)).toBe(true);
    await using two = await open({}, "sse+http");
    const stream = await fetch(two.url);
    const text = new TextDecoder().decode((await stream.body?.getReader().read())?.value);
    const target = new URL(/data: (\S+)/.exec(text)?.[1] as string, two.url).href;
    expect((await fetch(target, { method: "POST", headers: { ...json, "content-encoding": "gzip" }, body: bomb })).status).toBe(415);
  });

  it("is not agreed on over WebSocket, and a packed frame closes the socket", async () => {
    await using at = await open({ limits: { messageBytes: LIMIT } }, "ws");
    const socket = new WebSocket(at.url, ["mcp"], { perMessageDeflate: true });
    await new Promise((resolve) => socket.once("open", resolve));
    expect(socket.extensions).toBe("");
    const closed = new Promise<number>((resolve) => socket.once("close", resolve));
    // A text frame with the bit that says that it is packed.
    (socket as unknown as { _socket: Socket })._socket.write(Buffer.from([0xc1, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]));
    expect(await closed).toBe(1002);
  });

  it("and what is too large is refused before it is whole", async () => {
    await using at = await open({ limits: { messageBytes: LIMIT } });
    const answer = await fetch(at.url, { method: "POST", headers: json, body: " ".repeat(4 * LIMIT) });
    expect([answer.status, ((await answer.json()) as { error: { data: unknown } }).error.data]).toEqual([
      413,
      { limit: "messageBytes", max: LIMIT },
    ]);
    await using two = await open({ limits: { messageBytes: LIMIT } }, "ws");
    const socket = new WebSocket(two.url);
    await new Promise((resolve) => socket.once("open", resolve));
    const closed = new Promise<number>((resolve) => socket.once("close", resolve));
    socket.send(" ".repeat(4 * LIMIT));
    expect(await closed).toBe(1009);
  });
});

it("30: a flood of tiny fragments closes the socket", async () => {
  await using at = await open({}, "ws");
  const socket = new WebSocket(at.url);
  await new Promise((resolve) => socket.once("open", resolve));
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  socket.on("error", () => {});
  const tcp = (socket as unknown as { _socket: Socket })._socket;
  const before = process.memoryUsage().rss;
  // One message that never ends, a byte at a time.
  tcp.write(Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x20]));
  const fragments = Buffer.concat(Array.from({ length: 10_000 }, () => Buffer.from([0x00, 0x81, 0, 0, 0, 0, 0x20])));
  for (let sent = 0; sent < 100 && socket.readyState === WebSocket.OPEN; sent++) {
    tcp.write(fragments);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await closed).toBe(1008);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * LIMIT);
  const next = new WebSocket(at.url);
  await new Promise((resolve) => next.once("open", resolve));
  next.terminate();
});

describe("31: slow requests", () => {
  const HEADERS_MS = 200;

  it.each(["http", "sse+http", "ws"])("are ended in time over %s: nothing at all, half a head, half a body", async (scheme) => {
    await using at = await open({ headersMs: HEADERS_MS }, scheme);
    const path = new URL(at.url).pathname;
    const begun = Date.now();
    const silent = await tcp(at.url);
    const head = await tcp(at.url);
    head.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-Slow: `);
    const drip = setInterval(() => head.write("x"), 20);
    const body = await tcp(at.url);
    body.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    const answers = await Promise.all([silent, head, ...(scheme === "http" ? [body] : [])].map(said));
    clearInterval(drip);
    body.destroy();
    expect(answers[0]).toBe("");
    expect(answers[1]).toMatch(/^HTTP\/1.1 408/);
    if (scheme === "http") expect(answers[2]).toMatch(/^HTTP\/1.1 408/);
    // Far below the defaults of 15 and 60 seconds.
    expect(Date.now() - begun).toBeLessThan(14_000);
  });

  it("are ended over HTTP/2, and the connection's other requests go on", async () => {
    await using at = await open({ headersMs: HEADERS_MS });
    const session = connectHttp2(at.url);
    const slow = session.request({ ":method": "POST", ":path": "/mcp", ...json });
    slow.write("{");
    const status = await new Promise((resolve) => slow.on("response", (headers) => resolve(headers[":status"])));
    expect(status).toBe(408);
    // The client keeps its side open: the server has to end the stream, once the answer is there.
    let text = "";
    slow.on("data", (chunk) => (text += chunk));
    await once(slow, "close");
    expect([slow.rstCode, JSON.parse(text).error.data]).toEqual([constants.NGHTTP2_NO_ERROR, { limit: "bodyMs", max: 4 * HEADERS_MS }]);
    const quick = session.request({ ":method": "POST", ":path": "/mcp", ...json });
    quick.end("{}");
    expect(await new Promise((resolve) => quick.on("response", (headers) => resolve(headers[":status"])))).toBe(400);
    session.destroy();
  });
});
