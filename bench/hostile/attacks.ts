import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { WebSocket } from "ws";
import { deaf, FROM, field, framed, rpc, wideSession } from "./http2.js";

/** What an attacker does with one of its connections. It resolves when all was sent; the connection stays open. */
export interface Attack {
  readonly name: string;
  readonly wire: "grpc" | "tunnel" | "websocket" | "sse";
  /** `share`: of what one attacking connection would do, so that many do not only measure the attacker. */
  run(port: number, share: number): Promise<void>;
}

const MIB = 1024 ** 2;
const SERVICE = "/mcp.v1.McpService/";
const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
const agent = new Agent({ keepAlive: true, maxSockets: 512 });
const some = (count: number, share: number): number => Math.max(1, Math.ceil(count * share));

function read(id: number, size: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method: "resources/read", params: { uri: `demo://generated/${size}`, _meta: meta } });
}

function echo(id: number, text: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "echo", arguments: { text } } });
}

export function opened(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, ["mcp"], { maxPayload: 0, localAddress: FROM });
  socket.on("error", () => {});
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(socket));
    socket.once("error", reject);
  });
}

/** The connection of a WebSocket. */
function under(socket: WebSocket): Socket {
  return (socket as unknown as { readonly _socket: Socket })._socket;
}

/** Resolves when the socket took it, or is gone: an attacker may be shut out. */
function sent(socket: { write(bytes: Uint8Array, done: () => void): unknown }, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    socket.write(bytes, () => resolve());
  });
}

/** Made once in an attacker: to compress it for each connection would take longer than the attack. */
let bomb: Buffer | undefined;

export const attacks: readonly Attack[] = [
  {
    name: "60 whole answers of 30 MB at once",
    wire: "grpc",
    async run(port, share) {
      const session = await wideSession(port);
      for (let at = 0; at < some(60, share); at++) {
        const stream = rpc(session, `${SERVICE}ReadResource`);
        stream.resume();
        stream.end(framed(field(1, "demo://generated/30mb")));
      }
    },
  },
  {
    name: "60 whole answers of 30 MB at once",
    wire: "tunnel",
    async run(port, share) {
      const stream = rpc(await wideSession(port), "/MCP/Call");
      stream.resume();
      for (let at = 0; at < some(60, share); at++) stream.write(framed(field(1, read(at, "30mb"))));
    },
  },
  {
    name: "120 whole answers of 30 MB at once",
    wire: "websocket",
    async run(port, share) {
      const socket = await opened(port);
      for (let at = 0; at < some(120, share); at++) socket.send(read(at, "30mb"));
    },
  },
  {
    name: "posts 40 MB, never reads its stream",
    wire: "sse",
    async run(port, share) {
      const at = { host: "127.0.0.1", port, localAddress: FROM, agent };
      const [stream] = (await once(request({ ...at, path: "/sse" }).end(), "response")) as [IncomingMessage];
      const [first] = (await once(stream, "data")) as [Buffer];
      stream.pause();
      const path = /data: (\S+)/.exec(first.toString())?.[1] ?? "";
      const post = (body: string): Promise<unknown> => {
        const posted = request({ ...at, path, method: "POST", headers: { "content-type": "application/json" }, timeout: 20_000 }).end(body);
        return once(posted, "response").then(
          ([answer]) => (answer as IncomingMessage).resume(),
          () => {},
        );
      };
      const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "x", version: "1" } };
      await post(JSON.stringify({ jsonrpc: "2.0", id: "i", method: "initialize", params }));
      await post(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
      const filler = "x".repeat(100_000);
      // Small requests with large answers, and large ones.
      for (let id = 0; id < some(400, share); id++) void post(read(id, "3mb"));
      for (let id = 0; id < some(400, share); id++) void post(echo(1000 + id, filler));
      await once(stream, "close").catch(() => {});
    },
  },
  {
    name: "30 messages of 64 MiB that stay incomplete at 60",
    wire: "grpc",
    async run(port, share) {
      const session = await wideSession(port);
      const piece = Buffer.alloc(MIB, "x");
      const streams = Array.from({ length: some(30, share) }, () => rpc(session, `${SERVICE}CallTool`));
      for (const stream of streams) {
        stream.resume();
        stream.write(framed(Buffer.alloc(0), { declared: 64 * MIB }));
      }
      // A share of one message is a shorter message.
      const most = Math.min(60, Math.ceil((30 * 60 * share) / streams.length));
      for (let at = 0; at < most; at++) await Promise.all(streams.map((stream) => (stream.destroyed ? undefined : sent(stream, piece))));
    },
  },
  {
    name: "100 compressed messages of 61 KB that are 60 MB each",
    wire: "grpc",
    async run(port, share) {
      bomb ??= framed(gzipSync(Buffer.concat([field(1, "echo"), field(102, `{"text":"${"x".repeat(60 * MIB)}"}`)])), { compressed: true });
      const session = await wideSession(port);
      for (let at = 0; at < some(100, share); at++) {
        const stream = rpc(session, `${SERVICE}CallTool`, { "grpc-encoding": "gzip" });
        stream.resume();
        stream.end(bomb);
      }
    },
  },
  {
    name: "200 answers of 10 MB that are never read",
    wire: "websocket",
    async run(port, share) {
      const socket = await opened(port);
      socket.pause();
      // In one go: the server takes all of them before it has made the first answer.
      under(socket).cork();
      for (let at = 0; at < some(200, share); at++) socket.send(read(at, "10mb"));
      under(socket).uncork();
    },
  },
  {
    name: "a million pings, and the pongs are never read",
    wire: "websocket",
    async run(port, share) {
      const socket = await opened(port);
      socket.pause();
      // A frame of a ping is masked, with zeros here: then it is what it says.
      const ping = Buffer.concat([Buffer.of(0x89, 0x80 | 125, 0, 0, 0, 0), Buffer.alloc(125)]);
      const many = Buffer.concat(Array.from({ length: 10_000 }, () => ping));
      const raw = under(socket);
      for (let at = 0; at < some(100, share); at++) await sent(raw, many);
    },
  },
  {
    name: "4,000 streams of 1 GB that are never read",
    wire: "grpc",
    async run(port, share) {
      const { socket, call } = await deaf(port);
      for (let at = 0; at < some(4000, share); at++)
        socket.write(call(2 * at + 1, `${SERVICE}ReadResourceChunked`, field(1, "demo://generated/1gb")));
    },
  },
];
