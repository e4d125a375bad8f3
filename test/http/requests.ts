import { createServer, type JsonObject, type Listener, progress, type ServeOptions, type Server, serve } from "../../src/api/index.js";

export const MODERN = "2026-07-28";
export const LEGACY = "2025-11-25";

/** A JSON-RPC message as it came back. */
export interface Rpc {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
}

export const json: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

/** A request with what the modern era wants in it. */
export function modern(id: string | number, method: string, params: JsonObject = {}): JsonObject {
  const envelope = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    ...(params["_meta"] as JsonObject | undefined),
  };
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta: envelope } };
}

/** The headers that mirror a modern request. */
export function modernHeaders(body: JsonObject): Record<string, string> {
  const { name, uri } = body["params"] as { name?: string; uri?: string };
  const mirrored = name ?? uri;
  return {
    ...json,
    "mcp-protocol-version": MODERN,
    "mcp-method": String(body["method"]),
    ...(mirrored === undefined ? undefined : { "mcp-name": mirrored }),
  };
}

export function post(url: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { ...json, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(signal === undefined ? undefined : { signal }),
  });
}

export function postModern(url: string, body: JsonObject, headers: Record<string, string> = {}): Promise<Response> {
  return post(url, body, { ...modernHeaders(body), ...headers });
}

export const initialize = (version: string = LEGACY, capabilities: JsonObject = {}): JsonObject => ({
  jsonrpc: "2.0",
  id: "init",
  method: "initialize",
  params: { protocolVersion: version, capabilities, clientInfo: { name: "test", version: "1" } },
});

/** Begins a legacy session; resolves with the headers of its later requests. */
export async function begin(url: string, headers: Record<string, string> = {}, version: string = LEGACY): Promise<Record<string, string>> {
  const answer = await post(url, initialize(version), headers);
  if (answer.status !== 200) throw new Error(`initialize: HTTP ${answer.status}: ${await answer.text()}`);
  await answer.text();
  const session = { ...headers, "mcp-session-id": answer.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": version };
  await (await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, session)).text();
  return session;
}

export async function rpc(answer: Response | Promise<Response>): Promise<Rpc> {
  return (await (await answer).json()) as Rpc;
}

export interface SseEvent {
  readonly id: string | undefined;
  readonly message: Rpc | undefined;
}

/** The events of a stream as they come; leaving ends it. */
export async function* events(answer: Response): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const data = lines
        .find((line) => line.startsWith("data: "))
        ?.slice(6)
        .trim();
      const id = lines.find((line) => line.startsWith("id: "))?.slice(4);
      if (data === undefined && id === undefined) continue;
      yield { id, message: data === undefined || data === "" ? undefined : (JSON.parse(data) as Rpc) };
    }
  }
}

/** A server with a tool that echoes, one that counts with progress, and one that waits until it is cancelled. */
export function lab(): { readonly server: Server; readonly waiting: Set<string>; readonly calls: string[] } {
  const waiting = new Set<string>();
  const calls: string[] = [];
  const server = createServer({ name: "lab", version: "1" })
    .tool("echo", {}, (args) => {
      calls.push("echo");
      return { content: [], structuredContent: args };
    })
    .tool("count", {}, async function* ({ n }) {
      for (let at = 1; at <= Number(n); at++) yield progress(at, Number(n));
      return "counted";
    })
    .tool("wait", {}, async (args, { signal }) => {
      const key = String(args["key"]);
      waiting.add(key);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      waiting.delete(key);
      return "waited";
    });
  return { server, waiting, calls };
}

export const call = (id: string | number, name: string, args: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args, ...more },
});

/** Serves the lab until the test ends. */
export async function open(
  options: ServeOptions = {},
  scheme = "http",
): Promise<{ listener: Listener; url: string } & ReturnType<typeof lab> & AsyncDisposable> {
  const made = lab();
  const listener = await serve(made.server, `${scheme}://127.0.0.1:0`, options);
  return { ...made, listener, url: listener.address.replace(/^sse\+/, ""), [Symbol.asyncDispose]: () => listener.close() };
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

export type { Listener };
