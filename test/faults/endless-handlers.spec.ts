import { spawn } from "node:child_process";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import * as grpc from "@grpc/grpc-js";
import { expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";

// The server is a process of its own: one that starves hears no time-out.
async function start(...args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("../fixtures/endless.mjs", import.meta.url)), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  for await (const line of createInterface({ input: child.stdout })) return Number(line);
  throw new Error("the server did not start");
}

const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
const text = (id: number, method: string, params: object): string => JSON.stringify({ jsonrpc: "2.0", id, method, params });
const modern = (id: number, method: string, params: object): string => text(id, method, { ...params, _meta: meta });

function post(port: number, method: string, params: { readonly name?: string; readonly uri?: string }, headers = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": params.name ?? params.uri ?? "",
      ...headers,
    },
    body: modern(1, method, params),
  });
}

/** A neighbour on a connection of its own. */
async function answered(port: number): Promise<unknown> {
  const response = await post(port, "tools/call", { name: "echo", arguments: { text: "here" } } as object);
  return ((await response.json()) as { result?: { content: unknown[] } }).result?.content[0];
}

/** Calls of which nobody reads the answer, or wants what they yield. */
const calls: readonly (readonly [string, (port: number) => void])[] = [
  [
    "a tool's progress that nobody wants",
    (port) => void post(port, "tools/call", { name: "endless", arguments: { what: "progress" } } as object).catch(() => {}),
  ],
  [
    "log entries below the level",
    (port) => void post(port, "tools/call", { name: "endless", arguments: { what: "log" } } as object).catch(() => {}),
  ],
  ["progress of a read", (port) => void post(port, "resources/read", { uri: "a:text" }).catch(() => {})],
  ["empty chunks of a read", (port) => void post(port, "resources/read", { uri: "a:empty" }).catch(() => {})],
  ["progress of a prompt", (port) => void post(port, "prompts/get", { name: "endless" }).catch(() => {})],
  ["tools that are all hidden", (port) => void post(port, "tools/list", {}).catch(() => {})],
  [
    "a tool that is looked for among endless ones",
    (port) => void post(port, "tools/call", { name: "none" }, { "mcp-param-x": "1" }).catch(() => {}),
  ],
  [
    "notifications over lines that nobody reads",
    (port) => {
      const socket = createConnection(port, "127.0.0.1").pause();
      onTestFinished(() => void socket.destroy());
      socket.write(`${modern(1, "tools/call", { name: "endless", arguments: { what: "note" } } as object)}\n`);
    },
  ],
  [
    "notifications over lines whose client has gone",
    (port) => {
      const socket = createConnection(port, "127.0.0.1", () => {
        socket.end(`${modern(1, "tools/call", { name: "endless", arguments: { what: "note" } } as object)}\n`, () => socket.destroy());
      });
    },
  ],
  [
    "notifications over a WebSocket that nobody reads",
    (port) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`, "mcp");
      onTestFinished(() => socket.terminate());
      socket.on("open", () => {
        socket.pause();
        socket.send(modern(1, "tools/call", { name: "endless", arguments: { what: "note" } } as object));
      });
    },
  ],
  [
    "notifications of a legacy call over HTTP whose client has gone",
    (port) => {
      const url = `http://127.0.0.1:${port}/mcp`;
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const clientInfo = { name: "raw", version: "0" };
      const send = async (): Promise<void> => {
        const first = text(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
        const opened = await fetch(url, { method: "POST", headers, body: first });
        await opened.text();
        const session = { ...headers, "mcp-session-id": String(opened.headers.get("mcp-session-id")) };
        await fetch(url, { method: "POST", headers: session, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' });
        const gone = new AbortController();
        const call = text(2, "tools/call", { name: "endless", arguments: { what: "note" } });
        const answer = fetch(url, { method: "POST", headers: session, body: call, signal: gone.signal });
        await answer;
        gone.abort();
      };
      void send().catch(() => {});
    },
  ],
  [
    "notifications over gRPC, unary and cancelled",
    (port) => {
      const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
      onTestFinished(() => client.close());
      const same = (bytes: Buffer): Buffer => bytes;
      const argument = Buffer.from(JSON.stringify({ what: "note" }));
      const message = Buffer.concat([Buffer.from([10, 7]), Buffer.from("endless"), Buffer.from([0xb2, 6, argument.length]), argument]);
      const call = client.makeUnaryRequest("/mcp.v1.McpService/CallTool", same, same, message, () => {});
      setTimeout(() => call.cancel(), 200);
    },
  ],
];

/** A neighbour is answered, also once what goes on meanwhile has begun. */
async function served(port: number, beside: string): Promise<void> {
  for (let n = 0; n < 2; n++) {
    const late = new Promise((resolve) => setTimeout(resolve, 15_000, `nobody was served beside ${beside}`).unref());
    expect(await Promise.race([answered(port), late])).toEqual({ type: "text", text: "here" });
  }
}

it("leaves others their turn, whatever a handler does that never ends and never waits", { timeout: 60_000 }, async () => {
  const port = await start();
  for (const [name, begin] of calls) {
    begin(port);
    await served(port, name);
  }
});

it("leaves others their turn beside a handler of the SDK that sends without an end", { timeout: 60_000 }, async () => {
  const port = await start("sdk");
  await served(port, "nothing");
  void post(port, "tools/call", { name: "endless" }).catch(() => {});
  await served(port, "a tool of the SDK");
});
