import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { at, exact, textOf } from "../json.js";
import { body } from "./events.js";
import { portOf } from "./sockets.js";
import type { Era, RawServer, Take } from "./types.js";

/** Streamable HTTP by `node:http`: an answer alone is JSON, and what has more before it a stream of events. */
export async function httpServer(era: Era, take: Take, wanted?: number): Promise<RawServer> {
  const calls = new Map<string, ServerResponse>();
  let listening: ServerResponse | undefined;
  const event = (response: ServerResponse, text: string): void => {
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`event: message\ndata: ${text}\n\n`);
  };
  const http = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    if (incoming.method === "GET" && era === "legacy") {
      listening = response;
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      return;
    }
    if (incoming.method !== "POST") return void response.writeHead(incoming.method === "DELETE" ? 200 : 405).end();
    body(incoming, (text) => {
      const message = exact(text);
      const id = at(message, "id");
      if (id !== undefined && at(message, "method") !== undefined) calls.set(textOf(id), response);
      else response.writeHead(202).end();
      take(text);
    });
  });
  const port = await portOf(http, wanted);
  return {
    address: `http://127.0.0.1:${port}/mcp`,
    send(text, call) {
      const response = call === undefined ? listening : calls.get(call);
      if (response === undefined) return;
      const message = exact(text);
      if (call === undefined || at(message, "method") !== undefined) return event(response, text);
      calls.delete(call);
      if (response.headersSent) {
        event(response, text);
        response.end();
      } else {
        const opens = era === "legacy" && at(message, "result", "serverInfo") !== undefined;
        response.writeHead(200, { "content-type": "application/json", ...(opens && { "mcp-session-id": "raw-session" }) }).end(text);
      }
    },
    async close() {
      http.closeAllConnections();
      http.close();
    },
  };
}
