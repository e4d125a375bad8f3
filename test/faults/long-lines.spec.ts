import { createHash } from "node:crypto";
import { afterEach, expect, it } from "vitest";
import { connect, type Fault, type McpClient, serve, wireFor } from "../../src/api/index.js";

const MiB = 1024 * 1024;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/**
 * A legacy server that is not ours. A read of `blob:N` is answered with N pieces of 65,535 bytes on one line, the tool `long` with a line of
 * N MiB; `early` servers name the id first, the others last, as the official SDK does.
 */
const server = (early: boolean): string => `
  const { createInterface } = require("node:readline");
  const { once } = require("node:events");
  const write = async (text) => { if (!process.stdout.write(text)) await once(process.stdout, "drain"); };
  const around = (id) => ${early ? '["{\\"jsonrpc\\":\\"2.0\\",\\"id\\":" + id + ",\\"result\\":", "}\\n"]' : '["{\\"result\\":", ",\\"jsonrpc\\":\\"2.0\\",\\"id\\":" + id + "}\\n"]'};
  const answer = async (id, result) => { const [head, tail] = around(id); await write(head + JSON.stringify(result) + tail); };
  (async () => {
    for await (const line of createInterface({ input: process.stdin })) {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) continue;
      if (method === "initialize") await answer(id, { protocolVersion: "2025-11-25", capabilities: { tools: {}, resources: {} }, serverInfo: { name: "s", version: "1" } });
      else if (method === "resources/read") {
        const [head, tail] = around(id);
        await write(head + '{"contents":[{"uri":"x:","mimeType":"a/b","blob":"');
        const count = Number(params.uri.split(":")[1]);
        for (let n = 0; n < count; n++) { const piece = Buffer.alloc(65535, n & 255); piece.writeUInt32LE(n); await write(piece.toString("base64")); }
        await write('"}],"more":1}' + tail);
      } else if (method === "tools/call" && params.name === "long") {
        const [head, tail] = around(id);
        await write(head + '{"content":[{"type":"text","text":"');
        for (let n = 0; n < params.arguments.mib; n++) await write("x".repeat(${MiB}));
        await write('"}]}' + tail);
      } else if (method === "tools/call" && params.name === "stray") {
        for (let n = 0; n < 70; n++) await write("y".repeat(${MiB}));
        await write("\\n");
        await answer(id, { content: [] });
      } else if (method === "tools/call") await answer(id, { content: [{ type: "text", text: "pong" }] });
      else await answer(id, {});
    }
  })();
`;

async function open(early: boolean, faults: Fault[] = []): Promise<McpClient> {
  const client = await connect(
    { command: process.execPath, args: ["-e", server(early)] },
    { era: "legacy", onFault: (fault) => void faults.push(fault) },
  );
  closing.push(() => client.close());
  return client;
}

const pong = { content: [{ type: "text", text: "pong" }] };

it.each([true, false])("a line of more than 64 MiB fails its own call alone; its id comes first: %s", async (early) => {
  const client = await open(early);
  const long = client.callTool("long", { mib: 66 });
  const neighbour = client.callTool("ping");
  await expect(long).rejects.toMatchObject({ code: "overload", data: { limit: "messageBytes" } });
  expect(await neighbour).toMatchObject(pong);
  expect(await client.callTool("ping")).toMatchObject(pong);
});

it("a long line of nobody is told to onFault, and held by nobody", { timeout: 60_000 }, async () => {
  const faults: Fault[] = [];
  const client = await open(true, faults);
  const before = process.memoryUsage.rss();
  expect(await client.callTool("stray")).toMatchObject({ content: [] });
  expect(faults).toMatchObject([{ code: "overload", data: { limit: "messageBytes" } }]);
  expect(process.memoryUsage.rss() - before).toBeLessThan(200 * MiB);
});

const pieces = Math.ceil((100 * MiB) / 65_535);
function digest(): string {
  const hash = createHash("sha256");
  for (let n = 0; n < pieces; n++) {
    const piece = Buffer.alloc(65_535, n & 255);
    piece.writeUInt32LE(n);
    hash.update(piece);
  }
  return hash.digest("hex");
}

it.each([true, false])("a resource of more than 64 MiB is read as it comes; its id comes first: %s", { timeout: 60_000 }, async (early) => {
  const client = await open(early);
  const hash = createHash("sha256");
  let largest = 0;
  for await (const { data } of client.readChunks(`blob:${pieces}`)) {
    hash.update(data);
    largest = Math.max(largest, data.length);
  }
  expect(hash.digest("hex")).toBe(digest());
  expect(largest).toBeLessThan(MiB);
  expect(await client.callTool("ping")).toMatchObject(pong);
});

it("it waits for a slow reader, and is let go of when its reader leaves", { timeout: 60_000 }, async () => {
  const client = await open(false);
  const read = client.readChunks(`blob:${pieces}`);
  await read.next();
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (let chunks = 0; chunks < 200; chunks++) expect((await read.next()).done).toBe(false);
  await read.return();
  expect(await client.callTool("ping")).toMatchObject(pong);
});

it("it passes through a relay to an Anywire client", { timeout: 60_000 }, async () => {
  const address = { command: process.execPath, args: ["-e", server(false)] };
  const upstream = await (await wireFor(address)).dial(address, { era: "legacy" });
  closing.push(() => upstream.close());
  const relay = await serve(upstream, "http://127.0.0.1:0");
  closing.push(() => relay.close());
  const client = await connect(relay.address, { era: "modern" });
  closing.push(() => client.close());
  const hash = createHash("sha256");
  for await (const { data } of client.readChunks(`blob:${pieces}`)) hash.update(data);
  expect(hash.digest("hex")).toBe(digest());
});
