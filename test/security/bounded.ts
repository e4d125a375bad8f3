import type { ClientHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { WebSocket } from "ws";
import { framed, rpc } from "../../bench/hostile/http2.js";
import { createServer, type Limits, type Listener, type ServeOptions, serve } from "../../src/api/index.js";
import { heldBytes } from "../../src/core/index.js";

export const MIB: number = 1024 ** 2;
export const SERVICE = "/mcp.v1.McpService/";
const CHUNK = 64 * 1024;

/** A server with resources `b:SIZE` that counts the chunks it makes and the reads it begins. */
export interface Lab extends AsyncDisposable {
  readonly listener: Listener;
  readonly port: number;
  readonly made: { chunks: number; reads: number };
}

export async function lab(address: string, limits: Partial<Limits>, options: ServeOptions = {}): Promise<Lab> {
  const made = { chunks: 0, reads: 0 };
  const server = createServer({ name: "lab", version: "1" })
    .tool("echo", {}, ({ text }) => String(text))
    .tool("length", {}, ({ text }) => String(String(text).length))
    .tool("make", {}, ({ size }) => "m".repeat(Number(size)))
    .tool("wait", {}, (_args, { signal }) => new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve(""))))
    .resourceTemplate({ uriTemplate: "b:{size}", name: "b" }, (_uri, { variables }) => {
      const size = Number(variables["size"]);
      made.reads++;
      async function* data(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < size; at += CHUNK) {
          made.chunks++;
          // A turn each, so that reads that began together go on together.
          await new Promise((resolve) => setImmediate(resolve));
          yield Buffer.alloc(Math.min(CHUNK, size - at), "b");
        }
      }
      return { size, data: data() };
    });
  const listener = await serve(server, address, { limits, ...options });
  return { listener, made, port: Number(/:(\d+)/.exec(listener.address.slice(6))?.[1]), [Symbol.asyncDispose]: () => listener.close() };
}

const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };

export function request(id: number, method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } });
}

/** The outcome of a unary RPC: its status, and the message that came with it. */
export interface Outcome {
  readonly status: string;
  readonly message: string;
  readonly limit: string | undefined;
  readonly bytes: number;
}

/** Makes an RPC of one message, and reads what comes. */
export function unary(
  session: ClientHttp2Session,
  path: string,
  message: Uint8Array,
  { headers, compressed = false }: { headers?: Record<string, string>; compressed?: boolean } = {},
): Promise<Outcome> {
  const stream = rpc(session, `${SERVICE}${path}`, headers);
  stream.end(framed(message, { compressed }));
  return outcome(stream);
}

export function outcome(stream: ReturnType<typeof rpc>): Promise<Outcome> {
  let bytes = 0;
  let found: Record<string, unknown> = {};
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const note = (headers: object): void => {
    found = { ...found, ...headers };
  };
  stream.on("response", note);
  stream.on("trailers", note);
  return new Promise((resolve) =>
    stream.on("close", () => {
      const data = String(found["mcp-error-data-bin"] ?? "");
      resolve({
        status: String(found["grpc-status"] ?? "none"),
        message: decodeURIComponent(String(found["grpc-message"] ?? "")),
        limit: /"?(\w+(?:Bytes|Ms))"?/.exec(Buffer.from(data, "base64").toString("latin1"))?.[1],
        bytes,
      });
    }),
  );
}

export async function until(holds: () => boolean, ms = 10_000): Promise<void> {
  const end = Date.now() + ms;
  while (!holds() && Date.now() < end) await wait(5);
  expect(holds()).toBe(true);
}

/** The most that the process holds for its clients until it is stopped. */
export function watchHeld(): { most(): number } {
  let most = heldBytes();
  const timer = setInterval(() => {
    most = Math.max(most, heldBytes());
  }, 1);
  return {
    most() {
      clearInterval(timer);
      return most;
    },
  };
}

export async function socketOf(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, ["mcp"], { maxPayload: 0 });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return socket;
}

/** Sends all of it in one go, so that the server takes many before it has made the first answer. */
export function sendAll(socket: WebSocket, messages: readonly string[]): void {
  const { _socket: raw } = socket as unknown as { readonly _socket: Socket };
  raw.cork();
  for (const message of messages) socket.send(message);
  raw.uncork();
}
