import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { connect, type JsonObject } from "../../src/api/index.js";
import { nobodyLeft } from "../fixtures/processes.js";
import { open } from "./requests.js";

afterAll(nobodyLeft);

const text = (result: JsonObject): unknown => (result["content"] as { text: string }[])[0]?.text;

/** A server of the test's own, and the requests it got. */
async function plain(listener: RequestListener): Promise<{ url: string; seen: string[] } & AsyncDisposable> {
  const seen: string[] = [];
  const server = createHttp((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("an http:// address at which HTTP+SSE is spoken", () => {
  it("is dialed by it: our listener", async () => {
    await using at = await open({}, "sse+http");
    await using client = await connect(at.url);
    expect(client.server).toMatchObject({ era: "legacy", info: { name: "lab" } });
    expect((await client.callTool("echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
    const steps: unknown[] = [];
    for await (const event of client.streamTool("count", { n: 3 }))
      steps.push(event.kind === "progress" ? event.progress.progress : event.kind);
    expect(steps).toEqual([1, 2, 3, "result"]);
  });

  it("is dialed by it: the official SDK's server", async () => {
    const transports = new Map<string, SSEServerTransport>();
    await using at = await plain(async (request, response) => {
      const url = new URL(request.url ?? "/", "http://x");
      if (request.method === "POST" && url.pathname === "/messages")
        return void transports.get(url.searchParams.get("sessionId") ?? "")?.handlePostMessage(request, response);
      if (request.method !== "GET") return void response.writeHead(405).end("Method Not Allowed");
      const transport = new SSEServerTransport("/messages", response);
      transports.set(transport.sessionId, transport);
      const server = new McpServer({ name: "old", version: "1" });
      server.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
        content: [{ type: "text", text: String(a + b) }],
      }));
      await server.connect(transport);
    });
    await using client = await connect(`${at.url}/sse`);
    expect(client.server.info?.name).toBe("old");
    expect(text(await client.callTool("add", { a: 2, b: 3 }))).toBe("5");
    // The modern probe, the legacy handshake, the stream, and from then on messages.
    expect(at.seen.slice(0, 4)).toEqual(["POST /sse", "POST /sse", "GET /sse", expect.stringContaining("POST /messages?")]);
  });

  it("is dialed by it: server-everything", async () => {
    await using at = await everything();
    await using client = await connect(at.url);
    expect(client.server.info?.name).toContain("everything");
    expect(text(await client.callTool("echo", { message: "old" }))).toContain("old");
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
  });
});

describe("what speaks neither", () => {
  it.each([400, 404, 405])("is told by its first answer: %d", async (status) => {
    await using at = await plain((_request, response) => void response.writeHead(status).end("nothing here"));
    await expect(connect(at.url)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(`${status}: nothing here`),
    });
    expect(at.seen).toEqual(["POST /", "POST /", "GET /"]);
  });

  it.each([
    ["a page", "text/html", "<html></html>"],
    ["a stream without an endpoint", "text/event-stream", 'data: {"jsonrpc":"2.0","method":"x"}\n\n'],
  ])("%s at the address is not waited for", async (_name, type, body) => {
    await using at = await plain((request, response) => {
      if (request.method !== "GET") return void response.writeHead(405).end();
      response.writeHead(200, { "content-type": type });
      // It is left open: whoever waited for an end would wait for ever.
      response.write(body);
    });
    await expect(connect(at.url)).rejects.toMatchObject({ message: "the server answered HTTP 405" });
  });

  it("an endpoint of another origin is refused all the same", async () => {
    await using at = await plain((request, response) => {
      if (request.method !== "GET") return void response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: http://127.0.0.2:1/x\n\n");
    });
    await expect(connect(at.url)).rejects.toMatchObject({ code: "denied" });
  });

  it("no stream is looked for after an answer in JSON-RPC, after another status, and by a client of the modern era", async () => {
    const error = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "not today" } });
    await using answers = await plain(
      (_request, response) => void response.writeHead(400, { "content-type": "application/json" }).end(error),
    );
    await expect(connect(answers.url)).rejects.toMatchObject({ message: "not today" });
    await using broken = await plain((_request, response) => void response.writeHead(500).end());
    await expect(connect(broken.url)).rejects.toMatchObject({ data: { status: 500 } });
    await using none = await plain((_request, response) => void response.writeHead(404).end());
    await expect(connect(none.url, { era: "modern" })).rejects.toMatchObject({ code: "unsupported-version" });
    expect([...answers.seen, ...broken.seen, ...none.seen].filter((line) => line.startsWith("GET"))).toEqual([]);
  });
});

/** Keeps a program that listens everywhere on loopback, and prints its port. */
const loopback = `import net from "node:net";
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (port, ...rest) {
  this.once("listening", () => console.error("port", this.address().port));
  return listen.call(this, port, "127.0.0.1", ...rest);
};`;

async function everything(): Promise<{ url: string } & AsyncDisposable> {
  const folder = dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"));
  const preload = `data:text/javascript,${encodeURIComponent(loopback)}`;
  const child: ChildProcess = spawn(process.execPath, ["--import", preload, join(folder, "dist/index.js"), "sse"], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const port = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(said)));
    child.stderr?.on("data", (chunk) => {
      said += chunk;
      const found = /^port (\d+)$/m.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url: `http://127.0.0.1:${port}/sse`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}
