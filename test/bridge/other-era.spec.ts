import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, it, vi } from "vitest";
import { connect, type JsonObject } from "../../src/api/index.js";
import { again, portIn, restarts } from "../faults/restarted.js";
import { patience } from "../fixtures/children/index.js";
import { Ledger, openBridge, type TestBridge } from "./support.js";

const echo = { name: "echo", arguments: { text: "hi" } };
const hi = [{ type: "text", text: "hi" }];

async function sdkClient(made: TestBridge): Promise<Client> {
  const client = new Client({ name: "sdk", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(made.at("http").address)));
  return client;
}

it.each(["modern,legacy", "legacy,modern", "modern,legacy,modern"])(
  "a child that speaks these eras one after the other is spoken to in each: %s",
  { timeout: 30_000 },
  async (eras) => {
    const ledger = new Ledger(`eras=${eras}`);
    let lost = 0;
    const observe = { upstream: ({ kind }: { readonly kind: string }) => void (kind === "lost" && lost++) };
    await using made = await openBridge(["http"], { to: ledger.command, restart: { firstMs: 10 }, observe });
    const client = await sdkClient(made);
    const heard: string[] = [];
    client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
    await using modern = await connect(made.at("http").address, { era: "modern" });
    expect((await client.callTool(echo)).content).toEqual(hi);
    for (const _ of eras.split(",").slice(1)) {
      const before = lost;
      heard.length = 0;
      process.kill(ledger.pids.at(-1) as number, "SIGKILL");
      await vi.waitFor(() => expect(lost).toBeGreaterThan(before), { ...patience, interval: 1 });
      // Both wait for the server if it is not back, and neither is sent in the wrong era.
      const calls = await Promise.all([client.callTool(echo), modern.callTool("echo", { text: "hi" })]);
      expect(calls.map(({ content }) => content)).toEqual([hi, hi]);
      await vi.waitFor(() => expect(made.upstream).toMatchObject({ state: "ready", sessions: 1, children: 1 }), patience);
      // The client is told that it may look anew, and what it listens to is listened to again.
      await vi.waitFor(() => expect(heard).toContain("notifications/tools/list_changed"), patience);
    }
    expect(ledger.count("tools/call echo")).toBe(1 + 2 * (eras.split(",").length - 1));
    // A client that began with a legacy server hears what is said on its session, of which a modern server has none.
    if (eras.startsWith("legacy")) return client.close();
    heard.length = 0;
    await client.callTool({ name: "relist" });
    await vi.waitFor(() => expect(heard).toEqual(["notifications/tools/list_changed"]), patience);
    await client.close();
  },
);

it("an era that was demanded stays", { timeout: 30_000 }, async () => {
  const ledger = new Ledger("eras=modern,legacy");
  await using made = await openBridge(["http"], { to: ledger.command, dial: { era: "modern" } });
  const client = await sdkClient(made);
  process.kill(ledger.pids[0] as number, "SIGKILL");
  await vi.waitFor(() => expect(made.upstream.restarts).toBe(1), patience);
  await expect(client.callTool(echo)).rejects.toThrow("not initialized");
  expect(ledger.pids).toHaveLength(2);
  await client.close();
});

/** A server on HTTP of nothing but the modern era. */
async function modernOnly(port: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(text) as { id?: number; method: string; params?: { _meta?: JsonObject } };
    const isModern = params?._meta?.["io.modelcontextprotocol/protocolVersion"] === "2026-07-28";
    const results: Record<string, JsonObject> = {
      "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
      "tools/call": { content: [{ type: "text", text: "done" }] },
    };
    const error = { code: -32022, message: "unsupported version", data: { supported: ["2026-07-28"] } };
    const said = isModern ? { result: { resultType: "complete", ...results[method] } } : { error };
    // An unknown session is unknown first of all.
    const status = isModern ? 200 : request.headers["mcp-session-id"] === undefined || method === "initialize" ? 400 : 404;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  return server;
}

it("a server on HTTP that comes back in another era gets another session, in both directions", { timeout: 60_000 }, async () => {
  const [, , sdk] = restarts[0] as (typeof restarts)[number];
  const first = await modernOnly(0);
  const { port } = first.address() as AddressInfo;
  const made = await openBridge(["http"], { to: `http://127.0.0.1:${port}/mcp`, restart: { firstMs: 20, longestMs: 50 } });
  const client = await sdkClient(made);
  const call = async (): Promise<unknown> => (await client.callTool({ name: "echo" })).content;
  const done = [{ type: "text", text: "done" }];
  expect(await call()).toEqual(done);
  first.closeAllConnections();
  await new Promise((resolve) => first.close(resolve));
  await expect(call()).rejects.toThrow();
  const second = await again(sdk, "legacy", { address: `http://127.0.0.1:${port}/mcp` } as never);
  await vi.waitFor(() => expect(made.upstream.state).toBe("ready"), patience);
  expect(await call()).toEqual(done);
  expect(second.runs).toEqual(["echo"]);

  await second.kill();
  await expect(call()).rejects.toThrow();
  const third = await vi.waitFor(() => modernOnly(portIn(second.address)), patience);
  await vi.waitFor(async () => expect(await call()).toEqual(done), patience);
  expect(made.upstream.state).toBe("ready");
  await client.close();
  await made.close();
  third.closeAllConnections();
  third.close();
});
