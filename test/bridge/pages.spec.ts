import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import { bridge } from "../../src/bridge/index.js";
import { rawLines } from "./fixtures/raw-lines.js";

it.each(["session", "rpc"] as const)(
  "a page is fetched when the client asks for it, through two bridges with gRPC (%s) between",
  async (calls) => {
    const asked: unknown[] = [];
    // Five pages. Each cursor works once.
    const server = await rawLines("tools/list", ({ id, params }, send) => {
      const cursor = params?.["cursor"];
      const page = cursor === undefined ? 0 : Number(String(cursor).slice(5));
      if (cursor !== undefined && asked.includes(cursor)) return send({ id, error: { code: -32602, message: `${cursor} was used` } });
      asked.push(cursor);
      const tools = [{ name: `tool-${page}`, inputSchema: { type: "object" } }];
      send({ id, result: page < 4 ? { tools, nextCursor: `page ${page + 1}`, "x-page": page } : { tools, "x-page": page } });
    });
    await using back = await bridge({ listen: ["grpc://127.0.0.1:0"], to: server.address });
    await using front = await bridge({ listen: ["http://127.0.0.1:0/mcp"], to: back.listeners[0]?.address ?? "", dial: { calls } });
    const client = new Client({ name: "pages", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(front.listeners[0]?.address ?? "")));
    const first = await client.request({ method: "tools/list", params: {} });
    expect(first).toMatchObject({ tools: [{ name: "tool-0" }], nextCursor: "page 1", "x-page": 0 });
    expect(asked).toEqual([undefined]);
    const second = await client.request({ method: "tools/list", params: { cursor: "page 1" } });
    expect(second).toMatchObject({ tools: [{ name: "tool-1" }], nextCursor: "page 2", "x-page": 1 });
    expect(asked).toEqual([undefined, "page 1"]);
    await client.close();
    server.close();
  },
);
