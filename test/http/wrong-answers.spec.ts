import { createServer, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { connect, Fault, type JsonObject, type McpClient } from "../../src/api/index.js";

/** The answer of a raw server to a call: its body, by the id of the request. */
interface Answer {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body: (id: unknown) => string | Buffer;
}

const JSON_TYPE = { "content-type": "application/json" };
const SSE_TYPE = { "content-type": "text/event-stream" };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A client of a raw server, which answers the call of a tool with the answer of that name. */
async function calling(era: "legacy" | "modern", answers: Readonly<Record<string, Answer>>): Promise<McpClient> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(text) as { id?: number; method: string; params: JsonObject };
    if (id === undefined) return void response.writeHead(202).end();
    const answer = method === "tools/call" ? answers[String(params["name"])] : undefined;
    if (answer !== undefined) return void response.writeHead(answer.status ?? 200, answer.headers ?? JSON_TYPE).end(answer.body(id));
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: "2.0", id, result: results[era] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  const client = await connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, { era });
  closing.push(() => client.close());
  return client;
}

const results = {
  legacy: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1" } },
  modern: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private" },
};
const result = { content: [] };
const json = (message: JsonObject): string => JSON.stringify({ jsonrpc: "2.0", ...message });
const fault = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "answered",
    (error: unknown) => error,
  );

describe.each(["legacy", "modern"] as const)("a %s server", (era) => {
  test("that compresses an answer fails the call, and the error says so", async () => {
    const headers = { ...JSON_TYPE, "content-encoding": "gzip" };
    const client = await calling(era, { odd: { headers, body: (id) => gzipSync(json({ id, result })) } });
    expect(await fault(client.callTool("odd"))).toMatchObject({
      code: "parse",
      message: "the answer is not UTF-8: the server sent it with Content-Encoding gzip, which it was not asked for",
    });
  });

  test.each<[string, Answer]>([
    ["the id of another request", { body: () => json({ id: "another", result }) }],
    ["the id as a string", { body: (id) => json({ id: String(id), result }) }],
    ["a notification", { body: () => json({ method: "notifications/message", params: { level: "info", data: 1 } }) }],
    ["a request", { body: () => json({ id: 1, method: "ping" }) }],
    ["a batch without the answer", { body: () => `[${json({ id: "another", result })}]` }],
  ])("that answers with %s fails the call at once", async (_, answer) => {
    const client = await calling(era, { odd: answer, well: { body: (id) => json({ id, result }) } });
    const other = client.callTool("well");
    expect(await fault(client.callTool("odd"))).toMatchObject({
      code: "parse",
      message: expect.stringMatching(/does not answer the request: HTTP 200/),
    });
    expect(await other).toMatchObject(result);
  });

  test.each<[string, Answer]>([
    ["an id that it made up", { status: 400, body: () => json({ id: "server-error", error: { code: -32600, message: "no way" } }) }],
    ["no id", { status: 400, body: () => json({ id: null, error: { code: -32600, message: "no way" } }) }],
    ["no id in an event", { headers: SSE_TYPE, body: () => `data: ${json({ id: null, error: { code: -32600, message: "no way" } })}\n\n` }],
  ])("whose error has %s: the call gets the error", async (_, answer) => {
    const client = await calling(era, { odd: answer });
    const error = await fault(client.callTool("odd"));
    expect(error).toBeInstanceOf(Fault);
    expect(error).toMatchObject({ rpcCode: -32600, message: "no way" });
  });

  test.each<[string, Answer]>([
    ["JSON", { headers: { "content-type": "Application/JSON; charset=UTF-8" }, body: (id) => json({ id, result }) }],
    ["events", { headers: { "content-type": "Text/Event-Stream" }, body: (id) => `data: ${json({ id, result })}\n\n` }],
  ])("whose Content-Type of %s has capitals is understood", async (_, answer) => {
    const client = await calling(era, { odd: answer });
    expect(await client.callTool("odd")).toMatchObject(result);
  });
});
