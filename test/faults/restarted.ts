import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { vi } from "vitest";
import type { JsonObject } from "../../src/api/index.js";
import { patience } from "../fixtures/children/index.js";
import { portOf } from "../relay/raw/sockets.js";
import type { Era, RawWire } from "../relay/raw/types.js";
import { rawWires } from "../relay/raw/wires.js";

/** A server that is none of ours, can be killed, and is started again on the port it had. */
export interface Restarted {
  readonly address: string;
  /** What was said to it: methods, and their params as text. */
  readonly heard: readonly string[];
  /** The tools that ran. */
  readonly runs: readonly string[];
  /** Tells whoever subscribed that a resource has changed. */
  update(uri: string): void;
  /** Ends all connections without a word. */
  kill(): Promise<void>;
}

export type Start = (era: Era, port?: number) => Promise<Restarted>;

export const portIn = (address: string): number => Number(/:(\d+)/.exec(address)?.[1]);

/** Starts it again where it was: the port may not be free at once. */
export function again(start: Start, era: Era, { address }: Restarted): Promise<Restarted> {
  return vi.waitFor(() => start(era, portIn(address)), patience);
}

const capabilities = { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} };
const serverInfo = { name: "foreign", version: "1" };
const said = (method: string, params: unknown): string => `${method} ${JSON.stringify(params ?? {})}`;

/** A server that writes JSON-RPC by hand, on a wire of raw ends. */
export function raw(wire: RawWire): Start {
  return async (era, port) => {
    const heard: string[] = [];
    const runs: string[] = [];
    const listens = new Map<string, JsonObject>();
    const subscribed = new Set<string>();
    const answer = (id: unknown, result: JsonObject): void =>
      server.send(
        JSON.stringify({ jsonrpc: "2.0", id, result: era === "modern" ? { resultType: "complete", ...result } : result }),
        JSON.stringify(id),
      );
    const note = (id: unknown, method: string, params: JsonObject): void => {
      const _meta = { "io.modelcontextprotocol/subscriptionId": id };
      server.send(JSON.stringify({ jsonrpc: "2.0", method, params: { ...params, _meta } }), JSON.stringify(id));
    };
    const server = await wire.server(
      era,
      (text) => {
        const { id, method, params = {} } = JSON.parse(text) as { id?: unknown; method?: string; params?: JsonObject };
        heard.push(method === undefined ? text : said(method, params));
        switch (method) {
          case "server/discover":
            if (era === "modern") return answer(id, { supportedVersions: ["2026-07-28"], capabilities });
            return server.send(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } }), JSON.stringify(id));
          case "initialize":
            return answer(id, { protocolVersion: "2025-11-25", capabilities, serverInfo });
          case "tools/call":
            runs.push(String(params["name"]));
            return params["name"] === "hang" ? undefined : answer(id, { content: [{ type: "text", text: "done" }] });
          case "resources/subscribe":
            subscribed.add(String(params["uri"]));
            return answer(id, {});
          case "logging/setLevel":
            return answer(id, {});
          case "subscriptions/listen":
            listens.set(JSON.stringify(id), params["notifications"] as JsonObject);
            return note(id, "notifications/subscriptions/acknowledged", { notifications: params["notifications"] });
        }
      },
      port,
    );
    return {
      address: String(server.address),
      heard,
      runs,
      update(uri) {
        for (const [id, filter] of listens)
          if ((filter["resourceSubscriptions"] as string[] | undefined)?.includes(uri) === true)
            note(JSON.parse(id), "notifications/resources/updated", { uri });
        if (subscribed.has(uri))
          server.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } }));
      },
      kill: () => server.close(),
    };
  };
}

/** A session of the official SDK's server. */
function sdkServer(runs: string[]): Server {
  const server = new Server(serverInfo, { capabilities });
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    runs.push(params.name);
    return params.name === "hang" ? new Promise<never>(() => {}) : { content: [{ type: "text", text: "done" }] };
  });
  server.setRequestHandler(SetLevelRequestSchema, () => ({}));
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  return server;
}

/** Serves the sessions of the official SDK; `open` makes the answer to a request, whose body is given. */
function sdk(scheme: string, open: (sessions: Map<string, Server>, runs: string[]) => Handle): Start {
  return async (_era, port) => {
    const heard: string[] = [];
    const runs: string[] = [];
    const sessions = new Map<string, Server>();
    const handle = open(sessions, runs);
    const http = createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request) text += String(chunk);
      const body = text === "" ? undefined : (JSON.parse(text) as { method?: string; params?: JsonObject });
      if (body?.method !== undefined) heard.push(said(body.method, body.params));
      await handle(request, response, body);
    });
    const at = await portOf(http, port);
    return {
      address: `${scheme}://127.0.0.1:${at}/mcp`,
      heard,
      runs,
      update(uri) {
        for (const server of sessions.values()) void server.sendResourceUpdated({ uri }).catch(() => {});
      },
      async kill() {
        http.closeAllConnections();
        await new Promise((resolve) => http.close(resolve));
      },
    };
  };
}

type Handle = (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<unknown>;

const sdkHttp = sdk("http", (sessions, runs) => {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  return async (request, response, body) => {
    const id = request.headers["mcp-session-id"];
    const known = transports.get(String(id));
    if (known !== undefined) return known.handleRequest(request, response, body);
    if (id !== undefined) return response.writeHead(404).end();
    const server = sdkServer(runs);
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized(made) {
        transports.set(made, transport);
        sessions.set(made, server);
      },
    });
    await server.connect(transport as never);
    return transport.handleRequest(request, response, body);
  };
});

const sdkSse = sdk("sse+http", (sessions, runs) => {
  const transports = new Map<string, SSEServerTransport>();
  return async (request, response, body) => {
    const id = new URL(request.url ?? "/", "http://x").searchParams.get("sessionId");
    if (request.method === "POST")
      return transports.get(id ?? "")?.handlePostMessage(request, response, body) ?? response.writeHead(404).end();
    const transport = new SSEServerTransport("/message", response);
    transports.set(transport.sessionId, transport);
    const server = sdkServer(runs);
    sessions.set(transport.sessionId, server);
    return server.connect(transport);
  };
});

/** Every wire that connects again, and a server of it that is none of ours. */
export const restarts: readonly (readonly [name: string, era: Era, start: Start])[] = [
  ["http, the official SDK", "legacy", sdkHttp],
  ["http", "modern", raw(rawWires.http)],
  ["sse, the official SDK", "legacy", sdkSse],
  ["sse", "legacy", raw(rawWires.sse)],
  ["websocket", "legacy", raw(rawWires.ws)],
  ["websocket", "modern", raw(rawWires.ws)],
  ["grpc", "legacy", raw(rawWires.grpc)],
  ["grpc", "modern", raw(rawWires.grpc)],
  ["tunnel", "legacy", raw(rawWires.tunnel)],
  ["tunnel", "modern", raw(rawWires.tunnel)],
  ["proto", "legacy", raw(rawWires.proto)],
  ["proto", "modern", raw(rawWires.proto)],
];
