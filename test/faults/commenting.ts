import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttps } from "node:https";
import { authority } from "../fixtures/certificates.js";
import { portOf } from "../relay/raw/sockets.js";

const root = authority();
export const tls = root.issue("localhost", "127.0.0.1");
export const trust = { tls: { ca: root.cert } };

/** Milliseconds between two comments. */
export const KEEP_ALIVE = 50;

/** A server that says nothing to a call but comments, by Node alone. One that `resumes` answers it to a client that comes back. */
export async function commenting(
  scheme: "http" | "https" | "sse+http",
  era: "legacy" | "modern",
  { resumes = false, everyMs = KEEP_ALIVE } = {},
) {
  let calls = 0;
  let gets = 0;
  let called: unknown;
  let stream: ServerResponse | undefined;
  const timers = new Set<NodeJS.Timeout>();
  const live = (response: ServerResponse): ServerResponse => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    timers.add(setInterval(() => response.write(": here\n\n"), everyMs));
    return response;
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === "GET") gets++;
    if (request.headers["last-event-id"] === "e1") {
      live(response).write(`event: message\nid: e2\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: called, result: { content: [] } })}\n\n`);
      return;
    }
    if (request.method === "GET" && scheme !== "sse+http") return void live(response);
    if (request.method === "GET") {
      stream = live(response);
      return void stream.write("event: endpoint\ndata: /message\n\n");
    }
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { id, method } = JSON.parse(text === "" ? "{}" : text) as { id?: unknown; method?: string };
    const capabilities = { tools: {} };
    const result =
      method === "initialize"
        ? { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "raw", version: "1" } }
        : method === "server/discover" && era === "modern"
          ? { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities }
          : undefined;
    if (method === "tools/call") {
      calls++;
      called = id;
    }
    const answer = JSON.stringify(
      result === undefined ? { jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } } : { jsonrpc: "2.0", id, result },
    );
    if (scheme === "sse+http") {
      response.writeHead(202).end();
      if (id !== undefined && method !== "tools/call") stream?.write(`event: message\ndata: ${answer}\n\n`);
    } else if (method === "tools/call") live(response).write(resumes ? "id: e1\ndata: \n\n" : ":\n\n");
    else if (id === undefined) response.writeHead(202).end();
    else response.writeHead(200, { "content-type": "application/json", ...(era === "legacy" && { "mcp-session-id": "s" }) }).end(answer);
  };
  const http = scheme === "https" ? createHttps(tls, handle) : createServer(handle);
  const port = await portOf(http);
  return {
    address: `${scheme}://127.0.0.1:${port}/mcp`,
    called: () => calls > 0,
    gets: () => gets,
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer);
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
