import { type Agent, type IncomingMessage, request } from "node:http";
import type { Era, JsonObject } from "anywire";

const accept = "application/json, text/event-stream";
type Headers = Readonly<Record<string, string>>;

export interface Sending {
  readonly headers?: Headers;
  readonly body?: JsonObject;
  readonly agent?: Agent;
}

/** One request; resolves with the head of its answer. */
export function send(url: string, method: string, { headers, body, agent }: Sending = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { method, headers: { accept, "content-type": "application/json", ...headers } };
    const sent = request(url, agent === undefined ? options : { ...options, agent }, resolve);
    sent.on("error", reject);
    sent.end(body === undefined ? "" : JSON.stringify(body));
  });
}

export async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return text;
}

/** Begins a legacy session; resolves with the headers that its requests have. */
export async function begin(url: string, agent?: Agent): Promise<Headers> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  const by = agent === undefined ? {} : { agent };
  const answer = await send(url, "POST", { ...by, body: { jsonrpc: "2.0", id: 0, method: "initialize", params } });
  await textOf(answer);
  const headers = { "mcp-session-id": String(answer.headers["mcp-session-id"]), "mcp-protocol-version": "2025-11-25" };
  await textOf(await send(url, "POST", { ...by, headers, body: { jsonrpc: "2.0", method: "notifications/initialized" } }));
  return headers;
}

/** A call of a tool that wants progress. */
export function callOf(name: string, era: Era): JsonObject {
  const modern = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const _meta = { progressToken: "t", ...(era === "modern" ? modern : undefined) };
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {}, _meta } };
}

/** The bytes of the request that makes such a call. */
export function requestOf(name: string, era: Era, session: Headers): string {
  const body = JSON.stringify(callOf(name, era));
  const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name };
  const headers: Headers = {
    host: "localhost",
    accept,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...(era === "modern" ? modern : session),
  };
  const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
