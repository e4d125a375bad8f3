import { createServer } from "node:http";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Era, JsonObject } from "../../src/api/index.js";
import { patience } from "../fixtures/children/index.js";
import { begin, modern, post, postModern, type Rpc, rpc } from "../http/requests.js";
import { portOf } from "../relay/raw/sockets.js";
import { Ledger, openBridge, type TestBridge } from "./support.js";

const TIMEOUT = { timeout: 60_000 };
const SERVER_INFO = "io.modelcontextprotocol/serverInfo";

/** The result of a modern request by hand. */
async function ask(url: string, method: string, params: JsonObject = {}, headers: Record<string, string> = {}): Promise<JsonObject> {
  const text = await (await postModern(url, modern(1, method, params), headers)).text();
  // A body of its own, or the last event of a stream.
  const { result, error } = JSON.parse(text.slice(text.lastIndexOf('{"jsonrpc"')).trim()) as Rpc;
  if (result === undefined) throw new Error(JSON.stringify(error));
  return result;
}

const infoOf = ({ _meta }: JsonObject): unknown => (_meta as JsonObject | undefined)?.[SERVER_INFO];
const namesOf = ({ tools }: JsonObject): unknown[] => (tools as JsonObject[]).map(({ name }) => name);

async function legacy(made: TestBridge): Promise<Client> {
  const client = new Client({ name: "late", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(made.at("http").address)));
  return client;
}

it("a child that comes back as another server is shown as that one, to clients of both eras", TIMEOUT, async () => {
  const ledger = new Ledger("changes");
  await using made = await openBridge(["http"], { to: ledger.command });
  const url = made.at("http").address;
  const watcher = await legacy(made);
  const heard: string[] = [];
  watcher.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
  const modernWatcher = new ModernClient({ name: "modern", version: "1" }, {
    listChanged: { tools: { onChanged: () => heard.push("modern") } },
  } as never);
  await modernWatcher.connect(new ModernHttp(new URL(url)));
  expect(infoOf(await ask(url, "server/discover"))).toMatchObject({ version: "1" });
  const before = await ask(url, "tools/list");
  expect(infoOf(before)).toMatchObject({ version: "1" });
  expect(namesOf(before)).toContain("only-1");
  expect((await watcher.listTools()).tools.map(({ name }) => name)).toContain("only-1");
  expect((await modernWatcher.listTools()).tools.map(({ name }) => name)).toContain("only-1");

  process.kill(ledger.pids[0] as number, "SIGKILL");
  await vi.waitFor(() => expect(heard).toContain("notifications/tools/list_changed"), patience);
  const discovered = await ask(url, "server/discover");
  expect(infoOf(discovered)).toMatchObject({ version: "2" });
  expect(discovered).toMatchObject({ instructions: "start 2" });
  const after = await ask(url, "tools/list");
  expect(namesOf(after)).toContain("only-2");
  expect(namesOf(after)).not.toContain("only-1");
  expect(infoOf(after)).toMatchObject({ version: "2" });
  expect((await watcher.listTools()).tools.map(({ name }) => name)).toContain("only-2");
  const late = await legacy(made);
  expect(late.getServerVersion()).toMatchObject({ version: "2" });
  expect(late.getInstructions()).toBe("start 2");
  await Promise.all([late.close(), watcher.close(), modernWatcher.close()]);
});

/** An HTTP server by Node alone, without sessions and streams, that shows its `version` in all it says. */
async function rawServer(era: Era, port?: number, version = "1") {
  const info = { name: "raw", version };
  const said = {
    capabilities: { tools: { listChanged: true }, experimental: { numbers: ["1e400", "-0"] } },
    instructions: `start ${version}`,
  };
  const cache = { ttlMs: 3_600_000, cacheScope: "private" };
  const results: Record<Era, Record<string, JsonObject>> = {
    legacy: { initialize: { protocolVersion: "2025-11-25", ...said, serverInfo: info } },
    modern: { "server/discover": { supportedVersions: ["2026-07-28"], ...said, ...cache, _meta: { [SERVER_INFO]: info } } },
  };
  const common = { "tools/list": { tools: [{ name: `only-${version}`, inputSchema: { type: "object" } }] }, "tools/call": { content: [] } };
  const http = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method = "" } = JSON.parse(text) as { id?: unknown; method?: string };
    if (id === undefined) return void response.writeHead(202).end();
    const result = { ...common, ...results[era] }[method];
    const body =
      result === undefined
        ? { error: { code: -32601, message: "unknown" } }
        : { result: { ...(era === "modern" && { resultType: "complete" }), ...result } };
    // Numbers that JavaScript does not hold.
    const said = JSON.stringify({ jsonrpc: "2.0", id, ...body }).replaceAll(/"(1e400|-0)"/g, "$1");
    response.writeHead(200, { "content-type": "application/json" }).end(said);
  });
  const at = await portOf(http, port);
  return {
    port: at,
    address: `http://127.0.0.1:${at}/mcp`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

describe.each(["modern", "legacy"] as const)("an HTTP server without sessions, %s, that is replaced", (era) => {
  afterEach(() => void vi.useRealTimers());
  const later = (): unknown => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 20_000 });

  it.each(["shared", "auto", "own"] as const)("is shown as it is now, with sessions %s", TIMEOUT, async (sessions) => {
    const first = await rawServer(era);
    await using made = await openBridge(["http"], { to: first.address, sessions });
    const url = made.at("http").address;
    await first[Symbol.asyncDispose]();
    const second = await rawServer(era, first.port, "2");
    // Nobody asked the first one.
    later();
    expect(await ask(url, "server/discover")).toMatchObject({ instructions: "start 2", _meta: { [SERVER_INFO]: { version: "2" } } });
    expect(infoOf(await ask(url, "tools/call", { name: "x" }))).toMatchObject({ version: "2" });
    const early = await legacy(made);
    const heard: string[] = [];
    early.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
    expect(early.getServerVersion()).toMatchObject({ version: "2" });

    await second[Symbol.asyncDispose]();
    await using _third = await rawServer(era, first.port, "3");
    later();
    expect(await ask(url, "server/discover")).toMatchObject({ instructions: "start 3" });
    const listed = await ask(url, "tools/list");
    expect(namesOf(listed)).toEqual(["only-3"]);
    expect(infoOf(listed)).toMatchObject({ version: "3" });
    const late = await legacy(made);
    expect(late.getServerVersion()).toMatchObject({ version: "3" });
    expect(late.getInstructions()).toBe("start 3");
    // The client that was there before is told, where its session is the one that noticed.
    if (era === "legacy" && sessions !== "own")
      await vi.waitFor(() => expect(heard).toContain("notifications/tools/list_changed"), patience);
    await Promise.all([early.close(), late.close()]);
  });
});

it("keeps no list and no read for anybody, whatever the server says about caching them", TIMEOUT, async () => {
  let asked = 0;
  const http = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { id, method = "" } = JSON.parse(text) as { id?: unknown; method?: string };
    const cache = { resultType: "complete", ttlMs: 3_600_000 };
    const nth = `answer ${++asked}`;
    const results: Record<string, JsonObject> = {
      "server/discover": { ...cache, cacheScope: "public", supportedVersions: ["2026-07-28"], capabilities: { tools: {}, resources: {} } },
      "tools/list": { ...cache, cacheScope: "private", tools: [{ name: nth, inputSchema: { type: "object" } }] },
      "resources/read": { ...cache, cacheScope: "public", contents: [{ uri: "test://x", text: nth }] },
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] }));
  });
  const address = `http://127.0.0.1:${await portOf(http)}/mcp`;
  await using made = await openBridge(["http"], { to: address, known: true });
  const url = made.at("http").address;
  const told = new Set<unknown>();
  for (const token of ["ada", "ben", "ada", "ben"]) {
    const headers = { authorization: `Bearer ${token}` };
    const listed = await ask(url, "tools/list", {}, headers);
    expect(listed).toMatchObject({ ttlMs: 3_600_000, cacheScope: "private" });
    told.add(namesOf(listed)[0]);
    told.add(JSON.stringify(await ask(url, "resources/read", { uri: "test://x" }, headers)));
  }
  expect(told.size).toBe(8);
  http.close().closeAllConnections();
});

it.each(["http", "ws", "grpc"] as const)(
  "every legacy client of a chain over %s gets the results of a legacy server as they are",
  TIMEOUT,
  async (wire) => {
    await using inner = await openBridge([wire], { to: new Ledger("modern-members").command });
    await using outer = await openBridge(["http"], { to: inner.at(wire).address });
    const url = outer.at("http").address;
    for (const _client of ["first", "second"]) {
      const session = await begin(url);
      const { result } = await rpc(post(url, { jsonrpc: "2.0", id: 1, method: "tools/list" }, session));
      expect(result).toMatchObject({ resultType: "complete", ttlMs: 7, cacheScope: "mine" });
    }
  },
);

it.each([
  ["404, as the specification says", 404, undefined],
  ["400 and an error that answers nothing, as the official examples", 400, "Bad Request: No valid session ID provided"],
])(
  "a legacy HTTP server that was started again answers %s: calls go on, and lists may have changed",
  TIMEOUT,
  async (_name, status, message) => {
    const first = await forgetful(status, message);
    await using made = await openBridge(["http"], { to: first.address });
    const client = await legacy(made);
    const heard: string[] = [];
    client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
    const told = async (): Promise<unknown> => (await client.callTool({ name: "x" })).content;
    expect(await told()).toEqual([{ type: "text", text: "1 in session 1" }]);
    await first[Symbol.asyncDispose]();
    await using _second = await forgetful(status, message, first.port, "2");
    expect(await told()).toEqual([{ type: "text", text: "2 in session 2" }]);
    await vi.waitFor(() => expect(heard).toContain("notifications/tools/list_changed"), patience);
    // A bad request of another kind is an answer, and begins nothing anew.
    await expect(client.callTool({ name: "bad session" })).rejects.toThrow("no such session of yours");
    expect(await told()).toEqual([{ type: "text", text: "2 in session 2" }]);
    await client.close();
  },
);

/** A legacy server with sessions by Node alone, that refuses those it does not know. */
async function forgetful(status: number, message: string | undefined, port?: number, version = "1") {
  let begun = 0;
  const http = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { id, method, params } = JSON.parse(text || "{}") as { id?: unknown; method?: string; params?: { name?: string } };
    const answer = (code: number, body?: object): unknown =>
      response
        .writeHead(code, { "content-type": "application/json", "mcp-session-id": `s${version}` })
        .end(body && JSON.stringify({ jsonrpc: "2.0", ...body }));
    const known = request.headers["mcp-session-id"] === `s${version}`;
    if (method !== "initialize" && !known)
      return answer(status, message === undefined ? undefined : { error: { code: -32000, message }, id: null });
    if (request.method === "GET") return answer(405);
    if (id === undefined) return answer(request.method === "DELETE" ? 200 : 202);
    if (method === "initialize") {
      begun++;
      const capabilities = { tools: { listChanged: true } };
      return answer(200, { id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "forgetful", version } } });
    }
    if (params?.name === "bad session") return answer(400, { id, error: { code: -32602, message: "no such session of yours" } });
    if (begun > 1) return answer(500);
    return answer(200, { id, result: { content: [{ type: "text", text: `${version} in session ${version}` }] } });
  });
  const at = await portOf(http, port);
  return {
    port: at,
    address: `http://127.0.0.1:${at}/mcp`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
