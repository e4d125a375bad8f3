import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import { bridge } from "../../src/bridge/index.js";

/** A legacy server on bare lines, with five pages. Each cursor works once. */
async function pagesOnce(): Promise<{ readonly address: string; readonly asked: unknown[]; close(): void }> {
  const asked: unknown[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    createInterface({ input: socket }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params?: { cursor?: string } };
      const answer = (content: object): void => void socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...content })}\n`);
      if (method === "initialize")
        answer({ result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1" } } });
      else if (method === "tools/list") {
        const cursor = params?.cursor;
        const page = cursor === undefined ? 0 : Number(cursor.slice(5));
        if (cursor !== undefined && asked.includes(cursor)) return answer({ error: { code: -32602, message: `${cursor} was used` } });
        asked.push(cursor);
        const tools = [{ name: `tool-${page}`, inputSchema: { type: "object" } }];
        answer({ result: page < 4 ? { tools, nextCursor: `page ${page + 1}`, "x-page": page } : { tools, "x-page": page } });
      } else if (id !== undefined) answer({ error: { code: -32601, message: method } });
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { address: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close: () => server.close() };
}

it.each(["session", "rpc"] as const)(
  "a page is fetched when the client asks for it, through two bridges with gRPC (%s) between",
  async (calls) => {
    const server = await pagesOnce();
    await using back = await bridge({ listen: ["grpc://127.0.0.1:0"], to: server.address });
    await using front = await bridge({ listen: ["http://127.0.0.1:0/mcp"], to: back.listeners[0]?.address ?? "", dial: { calls } });
    const client = new Client({ name: "pages", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(front.listeners[0]?.address ?? "")));
    const first = await client.request({ method: "tools/list", params: {} });
    expect(first).toMatchObject({ tools: [{ name: "tool-0" }], nextCursor: "page 1", "x-page": 0 });
    expect(server.asked).toEqual([undefined]);
    const second = await client.request({ method: "tools/list", params: { cursor: "page 1" } });
    expect(second).toMatchObject({ tools: [{ name: "tool-1" }], nextCursor: "page 2", "x-page": 1 });
    expect(server.asked).toEqual([undefined, "page 1"]);
    await client.close();
    server.close();
  },
);
