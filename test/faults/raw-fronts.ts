import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import * as grpc from "@grpc/grpc-js";
import { WebSocket } from "ws";
import { serve } from "../../src/api/index.js";
import type { JsonObject, ListenOptions, Service } from "../../src/core/index.js";
import { serveLink } from "../../src/era/index.js";
import { memoryWire } from "../../src/wires/memory/index.js";

/** What came back, as text: a message, or the status of an HTTP answer that has none. */
export type Heard = JsonObject & { readonly status?: number };

/** A raw client of a listener, which knows nothing of Anywire. */
export interface Front {
  /** Sends a request, and resolves with whatever comes back for it. */
  ask(message: JsonObject): Promise<Heard>;
  /** Sends a notification. */
  tell(message: JsonObject): Promise<unknown>;
  /** Resolves when the wire has ended, with what is known of how. */
  readonly ended: Promise<unknown>;
  close(): void;
}

export interface Opened {
  readonly front: Front;
  /** Begins to close the listener. */
  shut(): Promise<void>;
}

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

function pending(): { answers: Map<unknown, (heard: Heard) => void>; wait(id: unknown): Promise<Heard>; take(text: string): void } {
  const answers = new Map<unknown, (heard: Heard) => void>();
  return {
    answers,
    wait: (id) => new Promise((resolve) => answers.set(id, resolve)),
    take(text) {
      const message = JSON.parse(text) as JsonObject;
      if (!("method" in message)) answers.get(message["id"])?.(message);
    },
  };
}

/** The last message of an answer: its one object, or the last event of its stream. */
async function answered(response: Response): Promise<Heard> {
  const text = await response.text();
  const events = text.split("\n").filter((line) => line.startsWith("data: {"));
  const last = events.at(-1)?.slice(6) ?? (text.startsWith("{") ? text : undefined);
  return { status: response.status, ...(last === undefined ? undefined : (JSON.parse(last) as JsonObject)) };
}

async function http(service: Service, options: ListenOptions, legacy: boolean): Promise<Opened> {
  const listener = await serve(service, "http://127.0.0.1:0", options);
  const url = listener.address;
  const version = "2026-07-28";
  let session: Record<string, string> = {};
  const post = (message: JsonObject): Promise<Heard> => {
    const params = { ...(message["params"] as JsonObject | undefined) };
    const headers: Record<string, string> = { ...json, ...session };
    if (!legacy) {
      params["_meta"] = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
      } as never;
      headers["mcp-protocol-version"] = version;
      headers["mcp-method"] = String(message["method"]);
      if (typeof params["name"] === "string") headers["mcp-name"] = params["name"];
    }
    return fetch(url, { method: "POST", headers, body: JSON.stringify({ ...message, params }) }).then(answered, (error) => ({
      status: 0,
      failed: String(error.cause ?? error),
    }));
  };
  let ended: Promise<unknown> = listener.closed;
  if (legacy) {
    const first = await fetch(url, { method: "POST", headers: json, body: JSON.stringify(initialize) });
    await first.text();
    session = { "mcp-session-id": first.headers.get("mcp-session-id") as string, "mcp-protocol-version": "2025-11-25" };
    await post(initialized);
    const general = await fetch(url, { headers: { ...session, accept: "text/event-stream" } });
    ended = general.text();
  }
  return { front: { ask: post, tell: post, ended, close() {} }, shut: () => listener.close() };
}

const initialize = {
  jsonrpc: "2.0",
  id: "init",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "0" } },
};
const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };

async function begun(front: Front): Promise<Front> {
  await front.ask(initialize);
  await front.tell(initialized);
  return front;
}

async function sse(service: Service, options: ListenOptions): Promise<Opened> {
  const listener = await serve(service, "sse+http://127.0.0.1:0", options);
  const url = listener.address.replace(/^sse\+/, "");
  const stream = await fetch(url, { headers: { accept: "text/event-stream" } });
  const open = pending();
  let place: (path: string) => void = () => {};
  const path = new Promise<string>((resolve) => {
    place = resolve;
  });
  const ended = (async () => {
    let text = "";
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
        text = text.slice(end + 2);
        if (data?.startsWith("/")) place(data);
        else if (data !== undefined) open.take(data);
      }
    }
    return "end of stream";
  })().catch((error: Error) => `broken: ${error.message}`);
  const target = new URL(await path, url);
  const tell = (message: JsonObject): Promise<Response> => fetch(target, { method: "POST", headers: json, body: JSON.stringify(message) });
  const ask = async (message: JsonObject): Promise<Heard> => {
    const heard = open.wait(message["id"]);
    const { status } = await tell(message);
    return status === 202 ? heard : { status };
  };
  return { front: await begun({ ask, tell, ended, close() {} }), shut: () => listener.close() };
}

async function websocket(service: Service, options: ListenOptions): Promise<Opened> {
  const listener = await serve(service, "ws://127.0.0.1:0", options);
  const socket = new WebSocket(listener.address, ["mcp"]);
  const open = pending();
  socket.on("message", (data) => open.take(String(data)));
  const ended = new Promise((resolve) => socket.on("close", (code) => resolve(code)));
  await new Promise((resolve) => socket.once("open", resolve));
  const tell = async (message: JsonObject): Promise<void> => socket.send(JSON.stringify(message));
  const ask = (message: JsonObject): Promise<Heard> => {
    const heard = open.wait(message["id"]);
    void tell(message);
    return heard;
  };
  return { front: await begun({ ask, tell, ended, close: () => socket.terminate() }), shut: () => listener.close() };
}

/** One length-delimited field, as a `JsonRpcMessage` is written. */
function wrap(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = [0x0a];
  let length = bytes.length;
  for (; length > 0x7f; length >>= 7) head.push((length & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...head, length]), bytes]);
}

function unwrap(message: Buffer): string {
  let at = 1;
  while ((message[at++] as number) >= 0x80);
  return message.subarray(at).toString();
}

async function tunnel(service: Service, options: ListenOptions): Promise<Opened> {
  const listener = await serve(service, "tunnel+grpc://127.0.0.1:0", options);
  const client = new grpc.Client(listener.address.replace("tunnel+grpc://", ""), grpc.credentials.createInsecure());
  const call = client.makeBidiStreamRequest("/MCP/Call", (text: string) => wrap(text), unwrap);
  const open = pending();
  call.on("data", (text: string) => open.take(text));
  call.on("error", () => {});
  const ended = new Promise((resolve) => call.on("status", ({ code }) => resolve(code)));
  const tell = async (message: JsonObject): Promise<void> => void call.write(JSON.stringify(message));
  const ask = (message: JsonObject): Promise<Heard> => {
    const heard = open.wait(message["id"]);
    void tell(message);
    return heard;
  };
  return { front: await begun({ ask, tell, ended, close: () => client.close() }), shut: () => listener.close() };
}

/** Another process on its own stdio: it runs the same service, and closes when it hears of it. */
async function stdio(_service: Service, options: ListenOptions): Promise<Opened> {
  const script = fileURLToPath(new URL("../fixtures/children/drains.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, String(options.drainMs ?? "")], { stdio: ["pipe", "pipe", "inherit"] });
  const open = pending();
  createInterface({ input: child.stdout }).on("line", (line) => open.take(line));
  const ended = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
  const tell = async (message: JsonObject): Promise<void> => void child.stdin.write(`${JSON.stringify(message)}\n`);
  const ask = (message: JsonObject): Promise<Heard> => {
    const heard = open.wait(message["id"]);
    void tell(message);
    return heard;
  };
  const front = await begun({ ask, tell, ended, close: () => child.kill("SIGKILL") });
  return {
    front,
    shut: async () => {
      await tell({ jsonrpc: "2.0", method: "notifications/vendor/close" });
      await ended;
    },
  };
}

async function memory(service: Service, options: ListenOptions): Promise<Opened> {
  const wire = memoryWire();
  const listener = await wire.listen(service, "memory:x", options);
  const relay = await wire.dial("memory:x", { era: "legacy" });
  // The wire has no bytes to be raw with: newline JSON in front of it shows what its calls come to.
  const { linkPair } = await import("../../src/wires/memory/index.js");
  const [mine, theirs] = linkPair();
  void serveLink(relay, theirs, { eras: ["legacy"] }).catch(() => {});
  const open = pending();
  void (async () => {
    for await (const batch of mine.incoming)
      for (const message of batch)
        if (message.kind === "result") open.answers.get(message.id)?.({ result: message.value });
        else if (message.kind === "error") open.answers.get(message.id)?.({ error: message.error as unknown as JsonObject });
  })();
  const tell = (message: JsonObject): Promise<void> => mine.send(message as never);
  const ask = (message: JsonObject): Promise<Heard> => {
    const heard = open.wait(message["id"]);
    void tell(message);
    return heard;
  };
  return { front: await begun({ ask, tell, ended: relay.closed, close: () => void mine.close() }), shut: () => listener.close() };
}

export const fronts: Readonly<Record<string, (service: Service, options: ListenOptions) => Promise<Opened>>> = {
  "http, modern": (service, options) => http(service, options, false),
  "http, legacy": (service, options) => http(service, options, true),
  sse,
  websocket,
  tunnel,
  stdio,
  memory,
};
