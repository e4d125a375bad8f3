import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { connect } from "../../src/api/index.js";
import { MOST_CONNECTIONS } from "../../src/io/http1/connections.js";
import { LEGACY, type Rpc } from "./requests.js";

/** A raw legacy server. It answers every request in a stream of events, which it leaves open; `hang` is never answered. */
let server: Server;
let url: string;
let sessions: Set<string>;
let heard: string[];
let open: Set<ServerResponse>;
/** How often the general stream was asked for, and the page that is there instead. */
let gets: number;
let page: string | undefined;
/** Whether it answers notifications with a stream, too. */
let streams: boolean;

beforeEach(async () => {
  [gets, page, streams] = [0, undefined, false];
  sessions = new Set();
  heard = [];
  open = new Set();
  let count = 0;
  server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    if (text === "") {
      gets++;
      if (page === undefined) return void response.writeHead(405).end();
      return void response.writeHead(200, { "content-type": "text/html" }).end(page);
    }
    const { id, method, params } = JSON.parse(text) as Rpc;
    heard.push(String(method));
    const session = request.headers["mcp-session-id"];
    if (method === "initialize") {
      sessions.add(`session ${++count}`);
      response.setHeader("mcp-session-id", `session ${count}`);
    } else if (!sessions.has(String(session))) return void response.writeHead(404).end();
    if (id === undefined) {
      if (!streams) return void response.writeHead(202).end();
      open.add(response.once("close", () => open.delete(response)));
      return void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    }
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    open.add(response);
    response.once("close", () => open.delete(response));
    if (params?.["name"] === "hang") return undefined;
    const result =
      method === "initialize"
        ? { protocolVersion: LEGACY, capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1" } }
        : { content: [] };
    return void response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test("a stream that stays open after the answer of its call is left", async () => {
  await using client = await connect(url, { era: "legacy" });
  for (let at = 0; at < 3; at++) await client.callTool("echo");
  expect(open.size).toBeGreaterThan(0);
  await vi.waitFor(() => expect(open.size).toBe(0), { timeout: 5_000 });
});

test("a stream that answers a notification is left", async () => {
  streams = true;
  await using client = await connect(url, { era: "legacy", timeout: 10_000 });
  expect(await client.callTool("echo", {}, { timeout: 5_000 })).toMatchObject({ content: [] });
  await vi.waitFor(() => expect(open.size).toBe(0), { timeout: 5_000 });
  expect(heard).toEqual(["initialize", "notifications/initialized", "tools/call"]);
});

test("a page in place of the general stream is asked for once", async () => {
  page = "<html>";
  await using client = await connect(url, { era: "legacy" });
  await vi.waitFor(() => expect(gets).toBe(1));
  // The second attempt came within 100 ms.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await client.callTool("echo")).toMatchObject({ content: [] });
  expect(gets).toBe(1);
});

test("a session begins again though the answer to its initialize leaves the stream open", async () => {
  await using client = await connect(url, { era: "legacy" });
  sessions.clear();
  expect(await client.callTool("echo", {}, { timeout: 5_000 })).toMatchObject({ content: [] });
  expect(heard.filter((method) => method === "initialize")).toHaveLength(2);
});

test("calls that hang on all connections can be cancelled, and give them back", async () => {
  await using client = await connect(url, { era: "legacy" });
  const leaving = Array.from({ length: MOST_CONNECTIONS + 6 }, () => new AbortController());
  const calls = leaving.map(({ signal }) => client.callTool("hang", {}, { signal }).catch((fault) => fault));
  await vi.waitFor(() => expect(open.size).toBeGreaterThanOrEqual(MOST_CONNECTIONS), { timeout: 20_000 });
  for (const each of leaving) each.abort();
  for (const fault of await Promise.all(calls)) expect(fault).toMatchObject({ code: "cancelled" });
  expect(await client.callTool("echo", {}, { timeout: 10_000 })).toMatchObject({ content: [] });
  await vi.waitFor(
    () => expect(heard.filter((method) => method === "notifications/cancelled").length).toBeGreaterThanOrEqual(MOST_CONNECTIONS),
    {
      timeout: 10_000,
    },
  );
}, 40_000);
