import { createServer as createHttp, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/api/index.js";
import { modern, open, post, postModern, rpc } from "../http/requests.js";

const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;

describe("17: headers that do not say what the body says", () => {
  const body = modern(1, "tools/call", { name: "echo", arguments: {} });
  it.each([
    ["another method", { "mcp-method": "tools/list" }],
    ["another name", { "mcp-name": "count" }],
    ["another name, encoded", { "mcp-name": encoded("count") }],
    ["another case", { "mcp-name": "Echo" }],
    ["another version", { "mcp-protocol-version": "2025-11-25" }],
    ["a method of two", { "mcp-method": "tools/call, tools/list" }],
  ])("%s", async (_what, headers) => {
    await using at = await open();
    const answer = await postModern(at.url, body, headers);
    expect([answer.status, (await rpc(answer)).error?.code]).toEqual([400, -32020]);
    expect(at.calls).toEqual([]);
  });

  it("a header that is missing", async () => {
    await using at = await open();
    const whole: Record<string, string> = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" };
    for (const name of Object.keys(whole)) {
      const { [name]: left, ...rest } = whole;
      const answer = await post(at.url, body, rest);
      expect([name, answer.status, (await rpc(answer)).error?.code]).toEqual([name, 400, -32020]);
    }
    expect((await post(at.url, body, whole)).status).toBe(200);
    expect((await post(at.url, body, { ...whole, "mcp-name": encoded("echo") })).status).toBe(200);
    expect(at.calls.length).toBe(2);
  });

  it("methods that are named like members of every object are no exception", async () => {
    await using at = await open();
    for (const method of ["constructor", "toString", "__proto__"]) {
      const answer = await postModern(at.url, modern(1, method));
      expect([method, answer.status, (await rpc(answer)).error?.code]).toEqual([method, 404, -32601]);
    }
  });
});

describe("18: encoded header values", () => {
  it("that are broken are refused", async () => {
    await using at = await open();
    const body = modern(1, "tools/call", { name: "echo", arguments: {} });
    for (const name of ["=?base64?%%%?=", "=?base64?ZWNobw?=", "=?base64?/w==?=", "=?base64??="]) {
      const answer = await postModern(at.url, body, { "mcp-name": name });
      expect([name, answer.status, (await rpc(answer)).error?.code]).toEqual([name, 400, -32020]);
    }
    expect(at.calls).toEqual([]);
  });

  it("never carry a line break out", async () => {
    const heads: { headers: IncomingHttpHeaders; raw: string[] }[] = [];
    const names = ["a\r\nX-Evil: 1", "b\nc", "ünï", " lead", "=?base64?eA==?=", "nul\0"];
    const peer = createHttp((request, response) => {
      heads.push({ headers: request.headers, raw: request.rawHeaders });
      let text = "";
      request.on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => {
        const { id, method } = JSON.parse(text) as { id: number; method: string };
        const found = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, resultType: "complete" };
        const result = method === "server/discover" ? found : { content: [], resultType: "complete" };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      });
    });
    await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
    const client = await connect(`http://127.0.0.1:${(peer.address() as AddressInfo).port}/mcp`, { era: "modern" });
    for (const name of names) await client.callTool(name);
    await client.close();
    const sent = heads.map(({ headers }) => headers["mcp-name"]).filter((name) => name !== undefined);
    expect(sent).toEqual(names.map(encoded));
    expect(heads.every(({ headers }) => headers["x-evil"] === undefined)).toBe(true);
    peer.closeAllConnections();
    await new Promise((resolve) => peer.close(resolve));
  });
});
