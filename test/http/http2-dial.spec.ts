import { createSecureServer, type Http2SecureServer, type SecureServerOptions, type ServerHttp2Session } from "node:http2";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect as connectTcp, createServer as createTcp, type Server, type Socket } from "node:net";
import { createServer as createTls } from "node:tls";
import { expect, it } from "vitest";
import { connect, createServer, type McpClient, progress } from "../../src/api/index.js";
import { answerHeaderBytes } from "../../src/core/index.js";
import { UNSAID_MS } from "../../src/io/http1/connections.js";
import { httpClient } from "../../src/io/index.js";
import { nodeHandler } from "../../src/wires/http/index.js";
import { authority } from "../fixtures/certificates.js";
import { lab, until } from "./requests.js";

const root = authority();
const tls = root.issue("localhost", "127.0.0.1");
const trust = { tls: { ca: root.cert } };

interface Peer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly sessions: readonly ServerHttp2Session[];
  readonly made: ReturnType<typeof lab>;
}

async function closing(server: Server | Http2SecureServer, sockets: Iterable<{ destroy(): void }>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  for (const socket of sockets) socket.destroy();
  await closed;
}

async function portOf(server: Server | Http2SecureServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** Node's own server of HTTP/2 over TLS, with the endpoint mounted in it. */
async function http2Server(options: SecureServerOptions = {}): Promise<Peer> {
  const made = lab();
  const handler = nodeHandler(made.server);
  const sessions: ServerHttp2Session[] = [];
  const server = createSecureServer({ ...tls, ...options }, handler);
  server.on("session", (session) => sessions.push(session));
  const port = await portOf(server);
  return {
    url: `https://127.0.0.1:${port}/mcp`,
    port,
    sessions,
    made,
    async [Symbol.asyncDispose]() {
      handler.close();
      await closing(server, sessions);
    },
  };
}

const echoes = async (client: McpClient, count: number): Promise<unknown[]> =>
  Promise.all(Array.from({ length: count }, async (_, n) => ((await client.callTool("echo", { n })).structuredContent as { n: number }).n));

it.each(["modern", "legacy"] as const)("shares one connection among 300 calls at once: %s", async (era) => {
  await using at = await http2Server();
  await using client = await connect(at.url, { ...trust, era });
  expect(await echoes(client, 300)).toEqual(Array.from({ length: 300 }, (_, n) => n));
  expect(at.sessions).toHaveLength(1);
});

it("opens another connection where one is full, and none for calls that find room", async () => {
  await using at = await http2Server({ settings: { maxConcurrentStreams: 4 } });
  await using client = await connect(at.url, { ...trust, era: "modern" });
  const abort = new AbortController();
  const waiting = Array.from({ length: 10 }, (_, n) =>
    client.callTool("wait", { key: String(n) }, { signal: abort.signal }).catch(() => {}),
  );
  await until(() => at.made.waiting.size === 10);
  expect(await echoes(client, 1)).toEqual([0]);
  expect(at.sessions).toHaveLength(3);
  abort.abort();
  await Promise.all(waiting);
  await until(() => at.made.waiting.size === 0);
  await echoes(client, 4);
  expect(at.sessions).toHaveLength(3);
});

it("connects again after the server has closed the connection, well or badly", async () => {
  await using at = await http2Server();
  await using client = await connect(at.url, { ...trust, era: "modern" });
  for (const end of ["close", "destroy"] as const) {
    const session = at.sessions.at(-1) as ServerHttp2Session;
    const gone = new Promise((resolve) => session.once("close", resolve));
    session[end]();
    await gone;
    // The client may not have heard of it yet; then the call was not run and fails, or was refused and is sent again.
    await until(() =>
      echoes(client, 1).then(
        () => true,
        () => false,
      ),
    );
  }
  expect(at.sessions).toHaveLength(3);
});

it("fails the calls of a connection that was cut, and no others", async () => {
  await using at = await http2Server();
  await using client = await connect(at.url, { ...trust, era: "modern" });
  const call = client.callTool("wait", { key: "cut" });
  await until(() => at.made.waiting.has("cut"));
  at.sessions[0]?.destroy();
  await expect(call).rejects.toMatchObject({ code: "unavailable" });
  await until(() => at.made.waiting.size === 0);
});

it("sends again what the server refused to look at, once", async () => {
  let seen = 0;
  const server = createSecureServer(tls);
  const sessions: ServerHttp2Session[] = [];
  server.on("session", (session) => sessions.push(session));
  server.on("stream", (stream, headers) => {
    seen++;
    stream.on("error", () => {});
    if (headers[":path"] === "/never" || seen === 1) return stream.close(7);
    stream.respond({ ":status": 200 });
    return stream.end("heard");
  });
  const port = await portOf(server);
  const client = httpClient(trust);
  const heard = await client.send("POST", new URL(`https://127.0.0.1:${port}/`), { headers: {}, body: "x" });
  expect([await heard.text(100), seen]).toEqual(["heard", 2]);
  await expect(client.send("POST", new URL(`https://127.0.0.1:${port}/never`), { headers: {}, body: "x" })).rejects.toMatchObject({
    data: { reason: "refused-stream" },
  });
  expect(seen).toBe(4);
  client.close();
  await closing(server, sessions);
});

it("does not take a body that was cut for one that has ended", async () => {
  const server = createSecureServer(tls);
  const sessions: ServerHttp2Session[] = [];
  server.on("session", (session) => sessions.push(session));
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200 });
    stream.write("half");
    setImmediate(() => stream.destroy(new Error("cut")));
  });
  const port = await portOf(server);
  const client = httpClient(trust);
  const headers = { Connection: "keep-alive", Host: "localhost" };
  const ask = () => client.send("GET", new URL(`https://127.0.0.1:${port}/`), { headers });
  await expect((await ask()).text(100)).rejects.toMatchObject({ code: "unavailable" });
  const read = async (): Promise<void> => {
    for await (const _chunk of (await ask()).body);
  };
  await expect(read()).rejects.toMatchObject({ code: "unavailable" });
  client.close();
  await closing(server, sessions);
});

it("names the limit where the head of an answer over HTTP/1.1 is too long", async () => {
  const server = createHttps({ ...tls, maxHeaderSize: 1024 * 1024 }, (_, response) => response.setHeader("x", "y".repeat(20_000)).end());
  const port = await portOf(server);
  const client = httpClient(trust);
  await expect(client.send("GET", new URL(`https://127.0.0.1:${port}/`), { headers: {} })).rejects.toMatchObject({
    code: "overload",
    data: { limit: "headerBytes", max: answerHeaderBytes.http1 },
  });
  client.close();
  await closing(server, []);
});

it("speaks HTTP/1.1 where that is all there is, on the connection that found out", async () => {
  const made = lab();
  const handler = nodeHandler(made.server);
  const server = createHttps(tls, handler);
  const sockets: Socket[] = [];
  server.on("secureConnection", (socket) => sockets.push(socket));
  const port = await portOf(server);
  {
    await using client = await connect(`https://127.0.0.1:${port}/mcp`, { ...trust, era: "modern" });
    for (let n = 0; n < 5; n++) await echoes(client, 1);
    expect(sockets).toHaveLength(1);
    expect(await echoes(client, 20)).toHaveLength(20);
  }
  handler.close();
  await closing(server, sockets);
});

it("gives up a connection that has fallen silent", async () => {
  await using at = await http2Server();
  // Something on the way that forgets: nothing is passed on any more, and nothing is closed.
  const pairs: Socket[] = [];
  let frozen = false;
  const between = createTcp((near) => {
    const far = connectTcp(at.port, "127.0.0.1");
    pairs.push(near, far);
    near.on("error", () => {});
    far.on("error", () => {});
    near.on("data", (chunk) => frozen || far.write(chunk));
    far.on("data", (chunk) => frozen || near.write(chunk));
  });
  const port = await portOf(between);
  const client = await connect(`https://127.0.0.1:${port}/mcp`, { ...trust, era: "modern", pingMs: 100 });
  const call = client.callTool("wait", { key: "frozen" });
  await until(() => at.made.waiting.has("frozen"));
  frozen = true;
  await expect(call).rejects.toMatchObject({ code: "unavailable" });
  frozen = false;
  expect(await echoes(client, 1)).toEqual([0]);
  await client.close();
  await closing(between, pairs);
});

it("holds up the source of a call that is not read, and no other", async () => {
  let made = 0;
  const server = createServer({ name: "x", version: "1" })
    .tool("flood", {}, async function* () {
      for (; made < 50_000; made++) yield progress(made, 50_000, "x".repeat(1_000));
      return "done";
    })
    .tool("echo", {}, (args) => ({ content: [], structuredContent: args }));
  const handler = nodeHandler(server);
  const sessions: ServerHttp2Session[] = [];
  const host = createSecureServer(tls, handler).on("session", (session) => sessions.push(session));
  const port = await portOf(host);
  {
    await using client = await connect(`https://127.0.0.1:${port}/mcp`, { ...trust, era: "modern" });
    const stream = client.streamTool("flood");
    await stream.next();
    for (let before = -1; before !== made; ) {
      before = made;
      await echoes(client, 20);
    }
    expect(made).toBeLessThan(10_000);
    expect(sessions).toHaveLength(1);
    await stream.return();
  }
  handler.close();
  await closing(host, sessions);
});

it("closes an idle connection of HTTP/1.1 before its server does, and none that waits for its answer", async () => {
  const sockets = new Set<Socket>();
  const server = createHttps({ ...tls, keepAliveTimeout: 2_000 }, (request, response) => {
    setTimeout(() => response.end("here"), request.url === "/late" ? UNSAID_MS + 500 : 0);
  });
  server.on("secureConnection", (socket) => sockets.add(socket));
  const origin = `https://127.0.0.1:${await portOf(server)}`;
  const client = httpClient(trust);
  const get = async (path: string): Promise<string> => (await client.send("GET", new URL(path, origin), { headers: {} })).text(100);
  expect(await get("/late")).toBe("here");
  const answered = performance.now();
  const [socket] = sockets;
  await new Promise((resolve) => socket?.once("end", resolve));
  // The server would close it after two seconds.
  expect(performance.now() - answered).toBeLessThan(1_800);
  expect(await get("/")).toBe("here");
  client.close();
  await closing(server, sockets);
}, 15_000);

it("gives a server up that agrees on HTTP/2 and then says nothing", async () => {
  const sockets = new Set<Socket>();
  const server = createTls({ ...tls, ALPNProtocols: ["h2"] }, (socket) => void sockets.add(socket.on("error", () => {}).resume()));
  const port = await portOf(server);
  const client = httpClient({ ...trust, deadMs: 200 });
  try {
    await expect(client.send("POST", new URL(`https://127.0.0.1:${port}/`), { headers: {}, body: "x" })).rejects.toMatchObject({
      code: "unavailable",
      data: { reason: "dead-peer" },
    });
  } finally {
    client.close();
    await closing(server, sockets);
  }
});
