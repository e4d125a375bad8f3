import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { connect } from "../../src/api/index.js";

/** A server of the modern era, by hand, whose list has so many empty pages before its only tool. */
async function emptyPages(count: number): Promise<{ url: string; asked(): number } & AsyncDisposable> {
  let asked = 0;
  const host = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: { cursor?: string } };
    if (method === "tools/list") asked++;
    const at = Number(params.cursor ?? 0);
    const page = at < count ? { tools: [], nextCursor: String(at + 1) } : { tools: [{ name: "last", inputSchema: { type: "object" } }] };
    const discovered = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
    const result = { resultType: "complete", ttlMs: 0, cacheScope: "private", ...(method === "tools/list" ? page : discovered) };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  const { port } = host.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      host.closeAllConnections();
      await new Promise((resolve) => host.close(resolve));
    },
  };
}

it("a list of empty pages without end is a fault that names its limit", async () => {
  await using server = await emptyPages(Number.POSITIVE_INFINITY);
  await using client = await connect(server.url);
  await expect(client.listTools()).rejects.toMatchObject({ code: "overload", data: { limit: "emptyPages", max: 1000 } });
  expect(server.asked()).toBe(1001);
});

it("some empty pages are none", async () => {
  await using server = await emptyPages(20);
  await using client = await connect(server.url);
  expect((await client.listTools()).tools).toMatchObject([{ name: "last" }]);
});
