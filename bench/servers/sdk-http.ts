/** The official SDK over Streamable HTTP: legacy with sessions, modern as it is. Prints its address. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, isLegacyRequest, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { sdkServer } from "../sdk-server.js";

const handler = createMcpHandler(() => sdkServer("plain"));
const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

async function begun(): Promise<WebStandardStreamableHTTPServerTransport> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await sdkServer("plain").connect(transport);
  return transport;
}

const server = createServer(
  getRequestListener(async (request) => {
    const session = request.headers.get("mcp-session-id");
    const known = session === null ? undefined : sessions.get(session);
    // Whoever has a session is spared the look at the body.
    if (known !== undefined) return known.handleRequest(request);
    return (await isLegacyRequest(request)) ? (await begun()).handleRequest(request) : handler.fetch(request);
  }),
);
// Longer than any turn of the others: its client sends on kept connections.
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`));
