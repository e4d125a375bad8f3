import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttp, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { describe, expect, it } from "vitest";
import { connect, type JsonObject, type McpClient, serve, wireFor } from "../../src/api/index.js";

const MiB = 1024 * 1024;

interface Foreign extends AsyncDisposable {
  readonly url: string;
  /** Bytes of data written so far. */
  readonly written: () => number;
  readonly cut: () => number;
}

const piece = (n: number): Buffer => {
  const made = Buffer.alloc(65_535, n & 255);
  made.writeUInt32LE(n);
  return made;
};

function digest(pieces: number): string {
  const hash = createHash("sha256");
  for (let n = 0; n < pieces; n++) hash.update(piece(n));
  return hash.digest("hex");
}

/** A server of the modern era that is not ours: its answers to reads are one JSON object, as large as they are asked to be. */
async function foreign(after = ""): Promise<Foreign> {
  let written = 0;
  let cut = 0;
  const server = createHttp(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { id, method, params } = JSON.parse(text) as { id?: number; method: string; params: { uri?: string } };
    response.once("close", () => {
      if (!response.writableFinished) cut++;
    });
    if (id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json" });
    if (method === "server/discover") {
      const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { resources: {} } };
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }
    const [form, count] = String(params.uri).split(":///") as ["blob" | "text", string];
    const write = async (part: string): Promise<void> => {
      if (response.write(part) || response.destroyed) return;
      const stop = new AbortController();
      await Promise.race(["drain", "close"].map((event) => once(response, event, { signal: stop.signal }).catch(() => {})));
      stop.abort();
    };
    await write(`{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","ttlMs":5,"contents":[{"uri":"first","text":"é"},`);
    await write(`{"uri":${JSON.stringify(params.uri)},"mimeType":"x/y","${form}":"`);
    for (let n = 0; n < Number(count) && !response.destroyed; n++) {
      const data = form === "blob" ? piece(n).toString("base64") : `${n} 🎈 \\"\\ud83c\\udf88\\n`.repeat(1000);
      written += data.length;
      await write(data);
    }
    return void response.end(`"${after}}],"_meta":{"left":true}}}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    written: () => written,
    cut: () => cut,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function hashed(client: McpClient, uri: string, watch = (): void => {}): Promise<{ hash: string; bytes: number; others: string[] }> {
  const hash = createHash("sha256");
  let bytes = 0;
  const others: string[] = [];
  for await (const chunk of client.readChunks(uri)) {
    watch();
    if (typeof chunk.data === "string") others.push(chunk.data);
    else {
      hash.update(chunk.data);
      bytes += chunk.data.byteLength;
    }
  }
  return { hash: hash.digest("hex"), bytes, others };
}

const pieces = Math.ceil(300_000_000 / 65_535);

describe("a large answer of a server that knows no ranges", () => {
  it("300 MB are read as they come, in bounded memory", { timeout: 120_000 }, async () => {
    await using at = await foreign();
    await using client = await connect(at.url);
    await hashed(client, "blob:///400");
    const before = process.memoryUsage.rss();
    let most = before;
    const read = await hashed(client, `blob:///${pieces}`, () => {
      most = Math.max(most, process.memoryUsage.rss());
    });
    expect(read).toEqual({ bytes: pieces * 65_535, hash: digest(pieces), others: ["é"] });
    console.log(`dialed: 300 MB read, the process grew by ${((most - before) / MiB).toFixed(0)} MiB`);
    expect(most - before).toBeLessThan(128 * MiB);
  });

  it("passes through a relay to a client that knows none either", { timeout: 120_000 }, async () => {
    await using at = await foreign();
    const link = await (await wireFor(at.url)).dial(at.url, {});
    await using relay = await serve(link, "http://127.0.0.1:0");
    const envelope = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
    const body = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "blob:///2000", _meta: envelope } };
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "resources/read",
      "mcp-name": "blob:///2000",
    };
    const before = process.memoryUsage.rss();
    const answer = await fetch(relay.address, { method: "POST", headers, body: JSON.stringify(body) });
    let most = before;
    let bytes = 0;
    let tail = "";
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      tail = Buffer.from(chunk).toString("latin1").slice(-200);
      most = Math.max(most, process.memoryUsage.rss());
    }
    console.log(`relayed: ${(bytes / 1e6).toFixed(0)} MB of JSON, the process grew by ${((most - before) / MiB).toFixed(0)} MiB`);
    expect(bytes).toBeGreaterThan(2000 * 65_535 * 1.33);
    expect(tail).toContain('"left":true');
    expect(most - before).toBeLessThan(160 * MiB);
    await link.close();
  });

  it("keeps heads, text and what the result says beside", async () => {
    await using at = await foreign();
    await using client = await connect(at.url);
    const result = await client.readResource("text:///1000");
    expect(result).toMatchObject({ ttlMs: 5, _meta: { left: true } });
    expect(result.contents.map(({ uri, mimeType }) => [uri, mimeType])).toEqual([
      ["first", undefined],
      ["text:///1000", "x/y"],
    ]);
    const whole = Array.from({ length: 1000 }, (_, n) => `${n} 🎈 "🎈\n`.repeat(1000)).join("");
    expect(whole.length).toBeGreaterThan(10 * MiB);
    expect(result.contents[1]?.text === whole).toBe(true);
  });

  it("is not read ahead of its reader, and is ended with the call", async () => {
    await using at = await foreign();
    await using client = await connect(at.url);
    const stream = client.readChunks(`blob:///${pieces}`);
    for (let n = 0; n < 50; n++) await stream.next();
    for (let before = -1; before !== at.written(); ) {
      before = at.written();
      for (let n = 0; n < 20; n++) await (await fetch(at.url, { method: "POST", body: '{"id":1,"method":"server/discover"}' })).text();
    }
    expect(at.written()).toBeLessThan(64 * MiB);
    await stream.return();
    for (; at.cut() === 0; ) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("is held where it has another shape, as far as a message may go, and then says why not", async () => {
    await using at = await foreign(',"size":1');
    await using client = await connect(at.url);
    // What it says after its data has come before it was too large to be held.
    expect((await client.readResource("blob:///50")).contents[1]).toMatchObject({ size: 1 });
    await expect(client.readResource("blob:///400")).rejects.toMatchObject({
      code: "overload",
      message: expect.stringContaining("a content says something after its data"),
    });
  });

  it("is read from the official SDK's server", async () => {
    const data = Buffer.concat(Array.from({ length: 320 }, (_, n) => piece(n)));
    const app = createHttp(async (request, response: ServerResponse) => {
      const server = new McpServer({ name: "sdk", version: "1" });
      server.registerResource("big", "big:///", {}, () => ({
        contents: [{ uri: "big:///", mimeType: "x/y", blob: data.toString("base64") }],
      }));
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport as Parameters<McpServer["connect"]>[0]);
      await transport.handleRequest(request, response);
    });
    await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
    {
      await using client = await connect(`http://127.0.0.1:${(app.address() as AddressInfo).port}/mcp`);
      expect(await hashed(client, "big:///")).toEqual({ bytes: data.length, hash: digest(320), others: [] });
      const { contents } = (await client.readResource("big:///")) as { contents: readonly JsonObject[] };
      expect(contents[0]).toMatchObject({ uri: "big:///", mimeType: "x/y" });
    }
    app.closeAllConnections();
    await new Promise((resolve) => app.close(resolve));
  });
});
