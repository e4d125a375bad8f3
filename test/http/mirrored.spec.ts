import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { connect } from "../../src/api/index.js";
import { modern, open, post, type postModern, rpc } from "./requests.js";

const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;

/** A modern server that keeps the head and the body of every request, as text. */
async function recorder(): Promise<
  { url: string; heads: (readonly [string | undefined, string | undefined, string])[] } & AsyncDisposable
> {
  const heads: (readonly [string | undefined, string | undefined, string])[] = [];
  const peer = createHttp((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const { id, method } = JSON.parse(text) as { id: number; method: string };
      heads.push([request.headers["mcp-method"] as string, request.headers["mcp-name"] as string | undefined, text]);
      const found = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, resultType: "complete" };
      const result = method === "server/discover" ? found : { content: [], contents: [], resultType: "complete" };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(peer.address() as AddressInfo).port}/mcp`,
    heads,
    async [Symbol.asyncDispose]() {
      peer.closeAllConnections();
      await new Promise((resolve) => peer.close(resolve));
    },
  };
}

it("what is dialed says in its headers what its body says, half a surrogate pair and all", async () => {
  await using peer = await recorder();
  await using client = await connect(peer.url, { era: "modern" });
  await client.callTool("a\ud800b").catch(() => {});
  await client.call("vendor/grün");
  const [named, asked] = peer.heads.slice(1);
  expect(named?.slice(0, 2)).toEqual(["tools/call", encoded("a\ufffdb")]);
  expect(named?.[2]).toContain('"name":"a\\ud800b"');
  expect(asked?.slice(0, 2)).toEqual([encoded("vendor/grün"), undefined]);
});

it("what is served takes such headers, and no others", async () => {
  await using at = await open();
  const half = modern(1, "tools/call", { name: "a\ud800b", arguments: {} });
  const odd = modern(2, "vendor/grün");
  const plain = modern(3, "tools/call", { name: "echo", arguments: {} });
  const code = async (body: Parameters<typeof postModern>[1], headers: Record<string, string>): Promise<readonly unknown[]> => {
    const answer = await post(at.url, body, { "mcp-protocol-version": "2026-07-28", ...headers });
    return [answer.status, (await rpc(answer)).error?.code];
  };
  // The tool and the method are unknown here, which is the answer of one whose headers were taken.
  expect(await code(half, { "mcp-method": "tools/call", "mcp-name": encoded("a\ufffdb") })).toEqual([200, -32602]);
  expect(await code(half, { "mcp-method": "tools/call", "mcp-name": encoded("a\ufffd\ufffdb") })).toEqual([400, -32020]);
  expect(await code(odd, { "mcp-method": encoded("vendor/grün") })).toEqual([404, -32601]);
  expect(await code(odd, { "mcp-method": encoded("vendor/grau") })).toEqual([400, -32020]);
  // A U+FEFF at the beginning is part of the name.
  const marked = modern(4, "tools/call", { name: "\ufeffx", arguments: {} });
  expect(await code(marked, { "mcp-method": "tools/call", "mcp-name": encoded("\ufeffx") })).toEqual([200, -32602]);
  // Routers read the method as it stands: one that could be plain must be.
  expect(await code(plain, { "mcp-method": encoded("tools/call"), "mcp-name": "echo" })).toEqual([400, -32020]);
  expect(at.calls).toEqual([]);
});
