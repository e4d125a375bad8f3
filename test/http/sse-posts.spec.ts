import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { connect } from "../../src/api/index.js";
import { MOST_CONNECTIONS } from "../../src/io/http1/connections.js";
import type { Rpc } from "./requests.js";

/** A raw server of HTTP+SSE. It answers the POST of a call of `hang` only when the call is over, as Spring's server does, so never. */
let server: Server;
let url: string;
let stream: ServerResponse;
let heard: Rpc[];
/** The POSTs that hang. */
let hanging: Set<ServerResponse>;
/** What it does with any other POST. */
let take: (message: Rpc, response: ServerResponse) => void;

const say = (message: Rpc): void => void stream.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
const accept = (_: Rpc, response: ServerResponse): void => void response.writeHead(202).end("Accepted");

beforeEach(async () => {
  heard = [];
  hanging = new Set();
  take = accept;
  server = createServer(async (request, response) => {
    if (request.method === "GET") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      return stream.write("event: endpoint\ndata: /message\n\n");
    }
    let text = "";
    for await (const chunk of request) text += chunk;
    const message = JSON.parse(text) as Rpc;
    const { id, method, params } = message;
    heard.push(message);
    if (params?.["name"] === "hang") {
      response.once("close", () => hanging.delete(response));
      return hanging.add(response);
    }
    take(message, response);
    if (id === undefined || method === undefined) return undefined;
    if (params?.["name"] === "ask") return say({ id, method: "elicitation/create", params: { message: "?", requestedSchema: {} } });
    const initialized = { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1" } };
    return say({ id, result: method === "initialize" ? initialized : { tools: [], content: [] } });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `sse+http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test("an answer that the server does not take fails no call, though one has its id", async () => {
  take = ({ method, id }, response) => {
    if (method !== undefined) return accept({}, response);
    response.writeHead(400).end("no such question");
    setTimeout(() => say({ id: Number(id), result: { content: [] } }), 50);
  };
  await using client = await connect(url, { era: "legacy", elicit: () => ({ action: "accept", content: {} }) });
  expect(await client.callTool("ask", {}, { timeout: 5_000 })).toMatchObject({ content: [] });
});

test("calls whose POSTs have all connections can be cancelled, and give them back", async () => {
  await using client = await connect(url, { era: "legacy" });
  const leaving = Array.from({ length: MOST_CONNECTIONS }, () => new AbortController());
  const calls = leaving.map(({ signal }) => client.callTool("hang", {}, { signal }).catch((fault) => fault));
  await vi.waitFor(() => expect(hanging.size).toBe(MOST_CONNECTIONS - 1), { timeout: 20_000 });
  say({ id: "asked", method: "ping" });
  await vi.waitFor(() => expect(heard).toContainEqual({ jsonrpc: "2.0", id: "asked", result: {} }));
  for (const each of leaving.slice(0, 20)) each.abort();
  expect(await client.callTool("echo", {}, { timeout: 10_000 })).toMatchObject({ content: [] });
  for (const each of leaving) each.abort();
  await Promise.all(calls);
}, 40_000);

test("large calls whose POSTs hang do not fail the others", async () => {
  await using client = await connect(url, { era: "legacy" });
  const abort = new AbortController();
  const large = { text: "x".repeat(3_000_000) };
  const calls: Promise<unknown>[] = [];
  for (let count = 1; count <= 4; count++) {
    calls.push(client.callTool("hang", large, { signal: abort.signal }).catch((fault) => fault));
    await vi.waitFor(() => expect(hanging.size).toBe(count), { timeout: 5_000 });
  }
  expect(await client.callTool("echo", {}, { timeout: 5_000 })).toMatchObject({ content: [] });
  abort.abort();
  await Promise.all(calls);
});

test("messages whose POSTs are accepted, but never end, are taken", async () => {
  const open = new Set<ServerResponse>();
  take = (_, response) => {
    response.writeHead(202).write("Accepted");
    open.add(response);
    response.once("close", () => open.delete(response));
  };
  await using client = await connect(url, { era: "legacy", handshakeMs: 5_000 });
  expect(await client.callTool("echo", {}, { timeout: 5_000 })).toMatchObject({ content: [] });
  await vi.waitFor(() => expect(open.size).toBe(0), { timeout: 5_000 });
});
