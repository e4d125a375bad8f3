import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { type Command, connect, type Era } from "../../src/api/index.js";
import type { SessionMode } from "../../src/bridge/index.js";
import { portOf } from "../relay/raw/sockets.js";
import { Ledger, openBridge, type TestBridge } from "./support.js";

const lab = (version: "v1" | "v2"): Command => ({
  command: process.execPath,
  args: [fileURLToPath(new URL("../fixtures/sdk/lab-native.mjs", import.meta.url)), version],
});
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const accepted = { action: "accept", content: { name: "Ada" } };
const sampled = { role: "assistant", model: "m", content: { type: "text", text: "4" } };
const rooted = { roots: [{ uri: "file:///ada", name: "ada" }] };

interface AskedClient {
  readonly heard: string[];
  call(name: string, args?: Record<string, unknown>): Promise<{ structuredContent?: unknown; content?: unknown; isError?: boolean }>;
  tools(): Promise<string[]>;
  close(): Promise<void>;
}

async function legacyClient(transport: Parameters<Client["connect"]>[0]): Promise<AskedClient> {
  const client = new Client({ name: "v1", version: "1" }, { capabilities });
  const heard: string[] = [];
  const answer =
    (result: object) =>
    async ({ method, params }: { method: string; params?: unknown }): Promise<never> => {
      heard.push(`${method} ${JSON.stringify(params ?? {})}`);
      return result as never;
    };
  client.setRequestHandler(ElicitRequestSchema, answer(accepted));
  client.setRequestHandler(CreateMessageRequestSchema, answer(sampled));
  client.setRequestHandler(ListRootsRequestSchema, answer(rooted));
  client.fallbackNotificationHandler = async ({ method, params }) => void heard.push(`${method} ${JSON.stringify(params)}`);
  await client.connect(transport);
  return {
    heard,
    call: (name, args = {}) => client.callTool({ name, arguments: args }) as never,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  };
}

async function modernClient(address: string): Promise<AskedClient> {
  const client = new ModernClient({ name: "v2", version: "1" }, { capabilities, versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const heard: string[] = [];
  const answer =
    (result: object) =>
    async ({ method, params }: { method: string; params?: unknown }): Promise<never> => {
      heard.push(`${method} ${JSON.stringify(params ?? {})}`);
      return result as never;
    };
  client.setRequestHandler("elicitation/create", answer(accepted));
  client.setRequestHandler("sampling/createMessage", answer(sampled));
  client.setRequestHandler("roots/list", answer(rooted));
  await client.connect(new ModernHttp(new URL(address)));
  return {
    heard,
    call: (name, args = {}) => client.callTool({ name, arguments: args }) as never,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  };
}

const clients: Record<string, (made: TestBridge) => Promise<AskedClient>> = {
  "SDK v1, legacy, HTTP": (made) => legacyClient(new StreamableHTTPClientTransport(new URL(made.at("http").address))),
  "SDK v1, legacy, SSE": (made) => legacyClient(new SSEClientTransport(new URL(made.at("sse").address))),
  "SDK v2, modern, HTTP": (made) => modernClient(made.at("http").address),
};
const servers: readonly (readonly [name: string, command: Command, sessions: SessionMode])[] = [
  ["SDK v1, legacy, auto", lab("v1"), "auto"],
  ["SDK v1, legacy, shared", lab("v1"), "shared"],
  ["SDK v2, modern, auto", lab("v2"), "auto"],
  ["SDK v2, modern, own", lab("v2"), "own"],
];

describe.each(servers)("a server of the %s", (_server, to, sessions) => {
  it.each(Object.keys(clients))("asks, samples and lists roots: %s", { timeout: 60_000 }, async (name) => {
    await using made = await openBridge(["http", "sse"], { to, sessions });
    const client = await (clients[name] as (typeof clients)[string])(made);
    expect(await client.tools()).toEqual(expect.arrayContaining(["echo", "ask-form", "ask-model", "ask-roots"]));
    expect((await client.call("echo", { x: [null, 1.5, "ü"] })).structuredContent).toEqual({ x: [null, 1.5, "ü"] });
    expect((await client.call("ask-form")).structuredContent).toMatchObject(accepted);
    expect((await client.call("ask-model")).structuredContent).toMatchObject(sampled);
    expect((await client.call("ask-roots")).structuredContent).toMatchObject(rooted);
    expect(client.heard.filter((line) => !line.startsWith("notifications")).map((line) => line.split(" ")[0])).toEqual([
      "elicitation/create",
      "sampling/createMessage",
      "roots/list",
    ]);
    await client.close();
  });
});

const url = { mode: "url", message: "for x", url: "https://example.com/" };

it.each(["SDK v1, legacy, HTTP", "SDK v1, legacy, SSE"])(
  "an elicitation by URL and the notice that it is complete: %s",
  {
    timeout: 30_000,
  },
  async (name) => {
    await using made = await openBridge(["http", "sse"]);
    const client = await (clients[name] as (typeof clients)[string])(made);
    expect((await client.call("ask-url", { secret: "x" })).content).toEqual([{ type: "text", text: "x <- accept" }]);
    expect(client.heard).toEqual([
      `elicitation/create ${JSON.stringify({ mode: "url", message: "for x", elicitationId: "x", url: "https://example.com/" })}`,
      'notifications/elicitation/complete {"elicitationId":"x"}',
    ]);
    await client.close();
  },
);

it("an elicitation by URL reaches a modern client; the notice, which its revision does not have, is no error", {
  timeout: 30_000,
}, async () => {
  await using made = await openBridge(["http", "sse"]);
  const client = await (clients["SDK v2, modern, HTTP"] as (typeof clients)[string])(made);
  expect((await client.call("ask-url", { secret: "x" })).content).toEqual([{ type: "text", text: "x <- accept" }]);
  expect(JSON.parse(client.heard[0]?.replace("elicitation/create ", "") ?? "{}")).toMatchObject(url);
  await client.close();
});

it("an elicitation by URL of a modern server reaches a legacy client with the id that its revision requires", {
  timeout: 30_000,
}, async () => {
  const retries: unknown[] = [];
  const http = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { id, method, params = {} } = JSON.parse(text) as { id?: unknown; method?: string; params?: Record<string, unknown> };
    const asks = { resultType: "input_required", inputRequests: { q1: { method: "elicitation/create", params: url } }, requestState: "s" };
    const results: Record<string, object> = {
      "server/discover": { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
      "tools/call": params["inputResponses"] === undefined ? asks : { resultType: "complete", content: [{ type: "text", text: "done" }] },
    };
    if (params["inputResponses"] !== undefined) retries.push(params["inputResponses"]);
    const result = results[String(method)];
    const error = { code: -32601, message: "unknown method" };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) }));
  });
  const address = `http://127.0.0.1:${await portOf(http)}/mcp`;
  await using made = await openBridge(["http", "sse"], { to: address });
  for (const name of ["SDK v1, legacy, HTTP", "SDK v1, legacy, SSE"]) {
    const client = await (clients[name] as (typeof clients)[string])(made);
    expect((await client.call("sign-in")).content).toEqual([{ type: "text", text: "done" }]);
    const [asked = "", complete = ""] = client.heard;
    const { elicitationId, ...params } = JSON.parse(asked.replace("elicitation/create ", "")) as Record<string, unknown>;
    expect(params).toMatchObject(url);
    expect(elicitationId).toEqual(expect.any(String));
    expect(complete).toBe(`notifications/elicitation/complete ${JSON.stringify({ elicitationId })}`);
    await client.close();
  }
  expect(retries).toEqual([{ q1: accepted }, { q1: accepted }]);
  await made.close();
  http.close().closeAllConnections();
});

it("the error by which a legacy server requires a URL is a question to a modern client, and its retry calls again", {
  timeout: 30_000,
}, async () => {
  const ledger = new Ledger();
  await using made = await openBridge(["http", "sse"], { to: ledger.command, sessions: "shared" });
  const modern = await (clients["SDK v2, modern, HTTP"] as (typeof clients)[string])(made);
  expect((await modern.call("sign-in")).content).toEqual([{ type: "text", text: "signed in" }]);
  expect(modern.heard).toHaveLength(1);
  expect(JSON.parse(modern.heard[0]?.replace("elicitation/create ", "") ?? "{}")).toMatchObject({ ...url, message: "Please sign in." });
  expect(ledger.count("tools/call sign-in")).toBe(2);
  await modern.close();
});

it("a legacy client, and a modern one that cannot visit pages, get that error as it is", { timeout: 30_000 }, async () => {
  await using made = await openBridge(["http", "sse"], { to: new Ledger().command, sessions: "own" });
  const legacy = await (clients["SDK v1, legacy, HTTP"] as (typeof clients)[string])(made);
  await expect(legacy.call("sign-in")).rejects.toMatchObject({ code: -32042, data: { elicitations: [{ elicitationId: "e1" }] } });
  await legacy.close();
  await using form = await connect(made.at("http").address, { era: "modern" });
  await expect(form.callTool("sign-in")).rejects.toThrow("sign in first");
});

const eras: readonly Era[] = ["legacy", "modern"];
it.each(eras)("a client of the library on every wire of one bridge, %s", { timeout: 60_000 }, async (era) => {
  await using made = await openBridge(["http", "ws", "grpc"], { to: lab("v1") });
  for (const wire of ["http", "ws", "grpc"] as const) {
    await using client = await connect(made.at(wire).address, { era, elicit: () => ({ action: "accept", content: { name: wire } }) });
    expect((await client.callTool("ask-form")).structuredContent).toMatchObject({ action: "accept", content: { name: wire } });
  }
});
