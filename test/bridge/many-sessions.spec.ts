import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { createServer as createAnywireServer, serve } from "../../src/api/index.js";
import { patience } from "../fixtures/children/index.js";
import { openBridge } from "./support.js";

interface Rpc {
  readonly id: number;
  readonly method: string;
  readonly params: {
    readonly name?: string;
    readonly arguments?: { uri: string };
    readonly notifications?: { resourceSubscriptions?: string[] };
  };
}

/** A modern server on HTTP without any library. Each subscription is a stream of its own. */
function modernServer() {
  const streams = new Map<ServerResponse, { id: number; uris: ReadonlySet<string> }>();
  let opened = 0;
  let most = 0;
  const event = (response: ServerResponse, message: object): void =>
    void response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  const _meta = { "io.modelcontextprotocol/serverInfo": { name: "many", version: "1" } };
  const results: Record<string, (params: Rpc["params"]) => object> = {
    "server/discover": () => ({
      supportedVersions: ["2026-07-28"],
      capabilities: { resources: { subscribe: true }, tools: { listChanged: true } },
      ttlMs: 0,
      cacheScope: "private",
    }),
    "tools/call": ({ arguments: args }) => {
      const uri = String(args?.uri);
      for (const [response, { id, uris }] of streams)
        if (uris.has(uri))
          event(response, {
            method: "notifications/resources/updated",
            params: { uri, _meta: { "io.modelcontextprotocol/subscriptionId": id } },
          });
      return { content: [{ type: "text", text: "changed" }] };
    },
  };
  const http = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body) as Rpc;
    if (method === "subscriptions/listen") {
      opened++;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const { notifications = {} } = params;
      streams.set(response, { id, uris: new Set(notifications.resourceSubscriptions) });
      most = Math.max(most, streams.size);
      response.on("close", () => streams.delete(response));
      return event(response, {
        method: "notifications/subscriptions/acknowledged",
        params: { notifications, _meta: { "io.modelcontextprotocol/subscriptionId": id } },
      });
    }
    const result = results[method]?.(params);
    response.writeHead(result === undefined ? 404 : 200, { "content-type": "application/json" });
    const error = { code: -32601, message: "unknown method" };
    return response.end(
      JSON.stringify({
        jsonrpc: "2.0",
        id,
        ...(result === undefined ? { error } : { result: { resultType: "complete", _meta, ...result } }),
      }),
    );
  });
  return {
    listen: () =>
      new Promise<string>((resolve) =>
        http.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)),
      ),
    counts: () => ({ streams: streams.size, opened, most }),
    close: () => http.close().closeAllConnections(),
  };
}

/** A legacy client that is nothing but `fetch`. */
async function session(url: string) {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  let id = 0;
  const post = async (method: string, params: object, notification = false): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...(notification ? undefined : { id: ++id }), method, params });
    const answer = await fetch(url, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(`${method}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const opened = await post("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "many", version: "1" } });
  await opened.text();
  headers["mcp-session-id"] = opened.headers.get("mcp-session-id") as string;
  await (await post("notifications/initialized", {}, true)).text();
  return {
    request: async (method: string, params: object): Promise<string> => (await post(method, params)).text(),
    /** What comes on its stream, as text. */
    async hear(onText: (text: string) => void): Promise<void> {
      const { body } = await fetch(url, { headers });
      void (async () => {
        for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) onText(Buffer.from(chunk).toString());
      })().catch(() => {});
    },
    leave: () => fetch(url, { method: "DELETE", headers }),
  };
}

it("1,100 legacy sessions, each with a subscription of its own, share few streams of a modern HTTP server, and calls go on", {
  timeout: 120_000,
}, async () => {
  const server = modernServer();
  const made = await openBridge(["http"], { to: await server.listen() });
  const url = made.at("http").address;
  const sessions: Awaited<ReturnType<typeof session>>[] = [];
  const heard = new Map<number, string>();
  for (let begun = 0; begun < 1100; begun += 50) {
    const some = await Promise.all(Array.from({ length: 50 }, () => session(url)));
    await Promise.all(some.map((each, at) => each.request("resources/subscribe", { uri: `test://${begun + at}` })));
    sessions.push(...some);
  }
  const { streams, opened, most } = server.counts();
  console.log(`1,100 sessions: ${streams} streams now, ${most} at most, ${opened} opened`);
  expect(most).toBeLessThan(32);
  for (const at of [0, 700, 1099]) await sessions[at]?.hear((text) => heard.set(at, (heard.get(at) ?? "") + text));
  await sessions[3]?.request("tools/call", { name: "change", arguments: { uri: "test://700" } });
  await vi.waitFor(() => expect(heard.get(700)).toContain("test://700"), patience);
  await sessions[3]?.request("tools/call", { name: "change", arguments: { uri: "test://0" } });
  await vi.waitFor(() => expect(heard.get(0)).toContain("test://0"), patience);
  expect(heard.get(1099) ?? "").not.toContain("updated");
  expect(heard.get(700)?.split("updated")).toHaveLength(2);
  for (let at = 0; at < sessions.length; at += 100) await Promise.all(sessions.slice(at, at + 100).map((each) => each.leave()));
  await vi.waitFor(() => expect(server.counts().streams).toBe(0), patience);
  await made.close();
  server.close();
});

it("1,100 legacy sessions on an Anywire server over HTTP, and calls go on", { timeout: 120_000 }, async () => {
  const server = createAnywireServer({ name: "many", version: "1" });
  server.tool("echo", {}, () => "echo");
  await using upstream = await serve(server, "http://127.0.0.1:0");
  await using made = await openBridge(["http"], { to: upstream.address });
  const sessions: Awaited<ReturnType<typeof session>>[] = [];
  for (let begun = 0; begun < 1100; begun += 50)
    sessions.push(...(await Promise.all(Array.from({ length: 50 }, () => session(made.at("http").address)))));
  expect(await sessions.at(-1)?.request("tools/call", { name: "echo", arguments: {} })).toContain("echo");
  for (let at = 0; at < sessions.length; at += 100) await Promise.all(sessions.slice(at, at + 100).map((each) => each.leave()));
});

it("a subscription that begins while the last one ends is not ended with it", async () => {
  const server = modernServer();
  const made = await openBridge(["ws"], { to: await server.listen(), dial: { era: "modern" } });
  const socket = new WebSocket(String(made.at("ws").address), ["mcp"]);
  await new Promise((resolve) => socket.once("open", resolve));
  const heard: string[] = [];
  socket.on("message", (data) => heard.push(String(data)));
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
  const send = (message: object): void => socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const listen = (id: number): void =>
    send({ id, method: "subscriptions/listen", params: { notifications: { resourceSubscriptions: ["test://one"] }, _meta } });
  const acknowledged = (id: number): Promise<void> =>
    vi.waitFor(
      () =>
        expect(heard.some((text) => text.includes("acknowledged") && text.includes(`"io.modelcontextprotocol/subscriptionId":${id}`))).toBe(
          true,
        ),
      patience,
    );
  listen(1);
  await acknowledged(1);
  send({ method: "notifications/cancelled", params: { requestId: 1 } });
  listen(2);
  await acknowledged(2);
  send({ id: 3, method: "tools/call", params: { name: "touch", arguments: { uri: "test://one" }, _meta } });
  await vi.waitFor(() => expect(heard.some((text) => text.includes("resources/updated"))).toBe(true), patience);
  expect(heard.filter((text) => text.includes('"error"'))).toEqual([]);
  socket.close();
  await made.close();
  server.close();
});
