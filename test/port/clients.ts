import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import * as grpc from "@grpc/grpc-js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { WebSocket } from "ws";
import { MCP, McpService } from "../../src/codec/gen/index.js";
import type { JsonObject } from "../../src/core/index.js";
import { Peer } from "../grpc/peers.js";

/** Where a client connects to, and whom it trusts if it speaks TLS. */
export interface Target {
  readonly port: number;
  readonly ca?: string | undefined;
}

/** A client of somebody else's making: calls the tool `echo` with a text, and gives what comes back. */
export type Kind = (target: Target, text: string) => Promise<string>;

/** `fetch` over Node's HTTP/1.1 client, which takes an authority. */
function fetchFrom({ ca }: Target): typeof fetch {
  return async (input, init) => {
    const url = new URL(String(input));
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const headers = Object.fromEntries(new Headers(init?.headers).entries());
      const sent = send(url, { method: init?.method ?? "GET", headers, agent: false, ...(ca === undefined ? {} : { ca }) }, (answer) => {
        const { statusCode: status = 0 } = answer;
        const body = [202, 204].includes(status) ? null : (Readable.toWeb(answer) as ReadableStream);
        if (body === null) answer.resume();
        resolve(new Response(body, { status, headers: answer.headers as Record<string, string> }));
      });
      sent.on("error", reject);
      init?.signal?.addEventListener("abort", () => sent.destroy());
      sent.end(init?.body as string | undefined);
    });
  };
}

const origin = ({ port, ca }: Target, scheme = "http"): string => `${scheme}${ca === undefined ? "" : "s"}://127.0.0.1:${port}`;

const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
const call = (text: string): JsonObject => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "echo", arguments: { text } },
});
const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text as string;

/** A legacy session by hand, on whatever sends and gives messages. */
async function session(text: string, send: (message: string) => void, messages: AsyncIterator<string>): Promise<string> {
  const answer = async (id: number): Promise<unknown> => {
    for (;;) {
      const { value, done } = await messages.next();
      if (done === true) throw new Error("the server ended the connection");
      const message = JSON.parse(value) as { id?: number; result?: unknown; error?: unknown };
      if (message.error !== undefined) throw new Error(value);
      if (message.id === id) return message.result;
    }
  };
  send(JSON.stringify(initialize));
  await answer(0);
  send(JSON.stringify(initialized));
  send(JSON.stringify(call(text)));
  return textOf(await answer(1));
}

async function sdk(target: Target, text: string): Promise<string> {
  const client = new Client({ name: "sdk", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin(target)}/mcp`), { fetch: fetchFrom(target) }) as never);
  const result = await client.callTool({ name: "echo", arguments: { text } });
  await client.close();
  return textOf(result);
}

async function rawSse(target: Target, text: string): Promise<string> {
  const fetched = fetchFrom(target);
  const leave = new AbortController();
  const stream = await fetched(`${origin(target)}/sse`, { headers: { accept: "text/event-stream" }, signal: leave.signal });
  const lines = createInterface({ input: Readable.fromWeb(stream.body as never).on("error", () => {}) })[Symbol.asyncIterator]();
  const data = (async function* () {
    for await (const line of lines) if (line.startsWith("data: ")) yield line.slice("data: ".length);
  })();
  const { value: path } = await data.next();
  // One after another: requests of their own may overtake each other.
  let posted: Promise<unknown> = Promise.resolve();
  const post = (body: string): void => {
    const next = (): Promise<unknown> =>
      fetched(`${origin(target)}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body });
    posted = posted.then(next).catch(() => leave.abort());
  };
  try {
    return await session(text, post, data);
  } finally {
    leave.abort();
  }
}

const webSocket =
  (path: string): Kind =>
  async (target, text) => {
    const socket = new WebSocket(`${origin(target, "ws")}${path}`, "mcp", target.ca === undefined ? {} : { ca: target.ca });
    const messages = eventsOf(socket);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    try {
      return await session(text, (message) => socket.send(message), messages);
    } finally {
      socket.close();
    }
  };

async function* eventsOf(socket: WebSocket): AsyncGenerator<string> {
  const waiting: string[] = [];
  let wake = (): void => {};
  socket.on("message", (data) => {
    waiting.push(String(data));
    wake();
  });
  for (;;) {
    const next = waiting.shift();
    if (next !== undefined) yield next;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}

function peer({ port, ca }: Target): Peer {
  return ca === undefined
    ? new Peer(`grpc://127.0.0.1:${port}`)
    : new Peer(`127.0.0.1:${port}`, grpc.credentials.createSsl(Buffer.from(ca)));
}

async function grpcJs(target: Target, text: string): Promise<string> {
  using client = peer(target);
  const { input, output } = McpService.method.callTool;
  const result = await client.unary("/mcp.v1.McpService/CallTool", [input, output], { name: "echo", arguments: { text } });
  return (result as unknown as { content: { content: { value: { text: string } } }[] }).content[0]?.content.value.text as string;
}

async function tunnel(target: Target, text: string): Promise<string> {
  using client = peer(target);
  const { input, output } = MCP.method.call;
  const stream = client.duplex("/MCP/Call", [input, output]);
  const field = input.fields[0]?.localName as string;
  const messages = (async function* () {
    for await (const message of stream) yield Buffer.from((message as Record<string, unknown>)[field] as Uint8Array).toString();
  })();
  const { create } = await import("@bufbuild/protobuf");
  try {
    return await session(text, (message) => void stream.write(create(input, { [field]: Buffer.from(message) } as never)), messages);
  } finally {
    stream.on("error", () => {}).cancel();
  }
}

async function connectJson(target: Target, text: string): Promise<string> {
  const answer = await fetchFrom(target)(`${origin(target)}/mcp.v1.McpService/CallTool`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "echo", arguments: { text } }),
  });
  const { content } = (await answer.json()) as { content: { text: { text: string } }[] };
  return content[0]?.text.text as string;
}

export function rawSocket({ port, ca }: Target): Socket {
  return ca === undefined ? connect(port, "127.0.0.1") : connectTls({ host: "127.0.0.1", port, ca });
}

async function rawLines(target: Target, text: string): Promise<string> {
  const socket = rawSocket(target);
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  try {
    return await session(text, (message) => socket.write(`${message}\n`), lines);
  } finally {
    socket.destroy();
  }
}

/** Every kind of client, and the wire that has to serve it. */
export const kinds: readonly (readonly [wire: string, name: string, Kind])[] = [
  ["http", "the official SDK over HTTP", sdk],
  ["sse", "HTTP+SSE by hand", rawSse],
  ["websocket", "ws at /mcp", webSocket("/mcp")],
  ["websocket", "ws at /ws", webSocket("/ws")],
  ["grpc", "grpc-js", grpcJs],
  ["tunnel", "the tunnel by grpc-js", tunnel],
  ["grpc", "Connect by hand", connectJson],
  ["lines", "lines by hand", rawLines],
];
