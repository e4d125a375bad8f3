import { createServer as createHttp } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/api/index.js";
import { contractService } from "../../src/contract/index.js";
import { fetchHandler, nodeHandler } from "../../src/wires/http/index.js";
import { keepsContract, pairs } from "../contract/pairs.js";
import { begin, call, events, lab, modern, modernHeaders, post } from "./requests.js";

interface Started {
  readonly port: number;
  close(): Promise<void>;
}

const { resolve } = createRequire(import.meta.url);
function installed(name: string): boolean {
  try {
    resolve(name);
    return true;
  } catch {
    return false;
  }
}

// A framework that is not installed has an example all the same; it is not run.
const examples = ["node", "express", "fastify", "hono"].filter((name) => name === "node" || installed(name));

it("finds the frameworks that this package installs", () => {
  expect(examples).toEqual(expect.arrayContaining(["node", "express", "hono"]));
});

describe.each(examples)("the example for %s", (name) => {
  it.each(["legacy", "modern"] as const)("serves a %s client beside what is there", async (era) => {
    const { start } = (await import(`../../examples/http/${name}.mjs`)) as { start(port: number): Promise<Started> };
    const app = await start(0);
    try {
      expect(await (await fetch(`http://127.0.0.1:${app.port}/`)).text()).toBe("hello\n");
      const client = await connect(`http://127.0.0.1:${app.port}/mcp`, { era });
      expect((await client.callTool("greet", { who: "Ada" })).content).toEqual([{ type: "text", text: "Hello, Ada!" }]);
      const seen: number[] = [];
      await client.callTool("count", { to: 5 }, { onProgress: ({ progress }) => seen.push(progress) });
      expect(seen).toEqual([1, 2, 3, 4, 5]);
      await client.close();
      const page = { origin: "http://localhost:5173" };
      const allowed = await fetch(`http://127.0.0.1:${app.port}/mcp`, {
        method: "OPTIONS",
        headers: { ...page, "access-control-request-method": "POST", "access-control-request-headers": "mcp-param-region, x-other" },
      });
      expect(allowed.status).toBe(204);
      expect(allowed.headers.get("access-control-allow-origin")).toBe(page.origin);
      const names = (allowed.headers.get("access-control-allow-headers") ?? "").toLowerCase().split(", ");
      expect(names).toEqual(
        expect.arrayContaining([
          "content-type",
          "accept",
          "authorization",
          "mcp-session-id",
          "mcp-protocol-version",
          "mcp-method",
          "mcp-name",
          "last-event-id",
          "mcp-param-region",
        ]),
      );
      expect(names).not.toContain("x-other");
      for (const method of ["GET", "POST", "DELETE"]) expect(allowed.headers.get("access-control-allow-methods")).toContain(method);
      const begun = await post(
        `http://127.0.0.1:${app.port}/mcp`,
        { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {} } },
        page,
      );
      await begun.text();
      expect(begun.headers.get("mcp-session-id")).not.toBeNull();
      expect(begun.headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
    } finally {
      await app.close();
    }
  });
});

describe("a Fetch handler by itself", () => {
  const url = "http://localhost/anything";
  const asked = (body: object, headers: Record<string, string>): Request =>
    new Request(url, { method: "POST", headers, body: JSON.stringify(body) });

  it("streams, and cancels a call whose response is left", async () => {
    const { server, waiting } = lab();
    const handler = fetchHandler(server);
    const counting = modern(1, "tools/call", { name: "count", arguments: { n: 3 }, _meta: { progressToken: 1 } });
    const seen = [];
    for await (const { message } of events(await handler(asked(counting, modernHeaders(counting)))))
      seen.push(message?.method ?? message?.id);
    expect(seen).toEqual(["notifications/progress", "notifications/progress", "notifications/progress", 1]);
    const abort = new AbortController();
    const waits = modern(2, "tools/call", { name: "wait", arguments: { key: "f" } });
    void handler(new Request(url, { method: "POST", headers: modernHeaders(waits), body: JSON.stringify(waits), signal: abort.signal }));
    while (!waiting.has("f")) await new Promise((done) => setImmediate(done));
    abort.abort();
    while (waiting.has("f")) await new Promise((done) => setImmediate(done));
    handler.close();
  });

  it("refuses a foreign host, and a body that is too large", async () => {
    const handler = fetchHandler(lab().server, { limits: { messageBytes: 100 } });
    const body = modern(1, "tools/list");
    expect((await handler(new Request("http://evil.example/mcp", { method: "POST" }))).status).toBe(403);
    expect((await handler(asked(body, modernHeaders(body)))).status).toBe(413);
    handler.close();
  });
});

it("a handler with a path answers no other", async () => {
  const handler = nodeHandler(lab().server, { path: "/a" });
  const app = createHttp(handler);
  await new Promise<void>((done) => app.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  const session = await begin(`${origin}/a`);
  expect((await post(`${origin}/a`, call(1, "echo"), session)).status).toBe(200);
  expect((await post(`${origin}/b`, call(1, "echo"), session)).status).toBe(404);
  handler.close();
  app.closeAllConnections();
  app.close();
});

for (const { name, era, eras } of pairs.slice(0, 2)) {
  keepsContract(`mounted: ${name}`, {
    async open(options) {
      const handler = nodeHandler(contractService(), { eras });
      const app = createHttp(handler);
      await new Promise<void>((done) => app.listen(0, "127.0.0.1", done));
      const client = await connect(`http://127.0.0.1:${(app.address() as AddressInfo).port}/mcp`, { ...options, era });
      void client.closed.then(() => {
        handler.close();
        app.closeAllConnections();
        app.close();
      });
      return client;
    },
  });
}
