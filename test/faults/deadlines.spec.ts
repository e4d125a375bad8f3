import { createServer as createHttp } from "node:http";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/api/index.js";
import { until } from "../http/requests.js";
import { portOf } from "../relay/raw/sockets.js";
import type { Era } from "../relay/raw/types.js";
import { type RawName, rawWires } from "../relay/raw/wires.js";

const capabilities = { tools: {} };
const answers: Readonly<Record<string, object>> = {
  "server/discover": { supportedVersions: ["2026-07-28"], capabilities, resultType: "complete" },
  initialize: { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "raw", version: "0" } },
};
const late = { code: "deadline" };
const TIMEOUT = 100;
/** Far more than the 100 ms that it should take, on a machine that has other things to do. */
const SOON = 5_000;

const wires: readonly [RawName, Era][] = [
  ["stdio", "legacy"],
  ["stdio", "modern"],
  ["http", "legacy"],
  ["sse", "legacy"],
  ["ws", "legacy"],
  ["ws", "modern"],
  ["proto", "legacy"],
  ["proto", "modern"],
  ["tunnel", "legacy"],
  ["tunnel", "modern"],
  ["grpc", "legacy"],
  ["grpc", "modern"],
  ["unary", "modern"],
];

describe("a deadline shorter than the tool", () => {
  it.concurrent.each(wires)("ends the call, and the server of %s, %s hears of it", async (wire, era) => {
    const heard: { method?: string; id?: unknown; params?: { name?: string; requestId?: unknown } }[] = [];
    const server = await rawWires[wire].server(era, (text) => {
      const message = JSON.parse(text) as (typeof heard)[number];
      heard.push(message);
      const result = answers[message.method ?? ""];
      const error = { code: -32601, message: "unknown" };
      const known = era === "modern" || message.method !== "server/discover";
      if (result === undefined) return;
      server.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...(known ? { result } : { error }) }), JSON.stringify(message.id));
    });
    const client = await connect(server.address, { era, ...(wire === "unary" && { calls: "rpc" as const }) });
    const since = performance.now() + TIMEOUT;
    await expect(client.callTool("hang", {}, { timeout: TIMEOUT })).rejects.toMatchObject(late);
    const [faulted] = [performance.now() - since];
    const id = heard.find(({ method }) => method === "tools/call")?.id;
    await until(() => heard.some(({ method, params }) => method === "notifications/cancelled" && params?.requestId === id));
    const cancelled = performance.now() - since;
    console.log(`${wire}, ${era}: after the deadline ${faulted.toFixed(0)} ms to the fault, ${cancelled.toFixed(0)} ms to the cancel`);
    expect(cancelled).toBeLessThan(SOON);
    await client.close();
    await server.close();
  });

  it("ends the request of a modern call over HTTP", async () => {
    let cut = 0;
    const http = createHttp((request, response) => {
      let text = "";
      request.on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => {
        const { id, method } = JSON.parse(text) as { id: number; method: string };
        const result = answers[method];
        if (result === undefined) return void response.once("close", () => cut++);
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      });
    });
    const client = await connect(`http://127.0.0.1:${await portOf(http)}/mcp`, { era: "modern" });
    const since = performance.now() + TIMEOUT;
    await expect(client.callTool("hang", {}, { timeout: TIMEOUT })).rejects.toMatchObject(late);
    await until(() => cut === 1);
    console.log(`http, modern: after the deadline ${(performance.now() - since).toFixed(0)} ms to the end of the request`);
    expect(performance.now() - since).toBeLessThan(SOON);
    await client.close();
    http.close();
  });
});
