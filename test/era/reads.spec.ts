import { afterEach, describe, expect, it, vi } from "vitest";
import { connect, serve } from "../../src/api/index.js";
import type { Limits } from "../../src/core/index.js";
import { createServer, elicit, guard, type JsonObject, type McpClient, type Reply, resultOf, type Service } from "../../src/core/index.js";
import { dialLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { contextOf } from "../calls.js";
import { gate } from "../support/peer.js";
import { modern, notification, type Raw, raw, type Single, served, servedLines } from "./raw.js";

let count = 0;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function open(service: Service, limits: Partial<Limits> = {}): Promise<McpClient> {
  const address = `memory:ranges-${++count}`;
  const listener = await serve(service, address, { limits });
  const client = await connect(address, { elicit: () => ({ action: "accept", content: {} }) });
  closing.push(
    () => client.close(),
    () => listener.close(),
  );
  return client;
}

function reading(replies: () => AsyncGenerator<Reply, JsonObject>): Service {
  const server = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, () => "");
  return {
    call: (request, context) => (request.method === "resources/read" ? guard(replies, context) : server.call(request, context)),
    notify: () => Promise.resolve(),
  };
}

const chunked = { "dev.anywire/chunked": { offset: 0, chunkSize: Number.MAX_SAFE_INTEGER } };
const isPart = (message: Single): message is Notification =>
  message.kind === "notification" && message.method === "notifications/dev.anywire/part";
type Notification = Extract<Single, { kind: "notification" }>;

describe("a read that is asked for in parts, on a link that all calls share", () => {
  const endless = () =>
    reading(async function* () {
      yield { kind: "content", form: "blob", head: { uri: "x:" } };
      for (;;) yield { kind: "chunk", data: new Uint8Array(200_000) };
    });

  it("sends no more than its reader has room for, in parts that do not hold up others", async () => {
    const { client } = servedLines(endless());
    await client.send(modern(1, "resources/read", { uri: "x:" }, { ...chunked, "dev.anywire/window": 300_000 }));
    await client.find((message) => isPart(message) && message.params["blob"] !== undefined);
    await client.send(modern(2, "server/discover"));
    await client.answer(2);
    const blobs = (): string[] =>
      client.seen.filter(isPart).flatMap(({ params }) => (typeof params["blob"] === "string" ? [params["blob"]] : []));
    const first = blobs();
    expect(Math.max(...first.map((blob) => blob.length))).toBeLessThanOrEqual(Math.ceil(65_536 / 3) * 4);
    expect(first.reduce((sum, blob) => sum + (blob.length / 4) * 3, 0)).toBeLessThan(300_000 + 65_536);
    await client.send(notification("notifications/dev.anywire/credit", { requestId: 1, messages: 2 }));
    await vi.waitFor(() => expect(blobs().length).toBeGreaterThan(first.length));
    await client.send(notification("notifications/cancelled", { requestId: 1 }));
    await client.link.close();
  });

  it("is one message where it is small", async () => {
    const server = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, async function* () {
      yield "some ";
      yield "text";
    });
    const { client } = servedLines(server);
    await client.send(modern(1, "resources/read", { uri: "x:" }, chunked));
    expect(await client.answer(1)).toMatchObject({ value: { contents: [{ uri: "x:", text: "some text" }] } });
    expect(client.seen.filter(isPart)).toEqual([]);
    await client.link.close();
  });

  it("is not held back because it is small", async () => {
    const go = gate();
    const server = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, async function* () {
      yield "some ";
      await go;
      yield "text";
    });
    const { client } = servedLines(server);
    await client.send(modern(1, "resources/read", { uri: "x:" }, chunked));
    await client.find((message) => isPart(message) && message.params["text"] === "some ");
    go.open();
    await client.answer(1);
    expect(client.seen.filter(isPart).map(({ params }) => params["text"] ?? params["head"])).toEqual([{ uri: "x:" }, "some ", "text"]);
    await client.link.close();
  });

  it("passes the octets of a source on in one memory, and never a copy of them", async () => {
    const made: Uint8Array[] = [];
    const server = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, async function* () {
      for (const size of [50_000, 50_000, 65_536, 7, 65_536, 200_000]) {
        const chunk = new Uint8Array(size).fill(made.length);
        made.push(chunk);
        yield chunk;
      }
    });
    const client = await open(server);
    const buffers = new Set<ArrayBufferLike>();
    let octets = 0;
    for await (const { data } of client.readChunks("x:")) {
      buffers.add((data as Uint8Array).buffer);
      octets += data.length;
    }
    expect(octets).toBe(made.reduce((sum, { length }) => sum + length, 0));
    expect(buffers.size).toBe(made.length);
    expect([...buffers].every((buffer, at) => buffer === made[at]?.buffer)).toBe(true);
  });

  it("is no place for base64 that cannot be cut: that arrives as it is", async () => {
    const blob = "A".repeat(1_000_001);
    const server = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, (uri) => ({ contents: [{ uri, blob }] }));
    const client = await open(server);
    expect((await client.readResource("x:")).contents[0]?.blob === blob).toBe(true);
  });
});

it.each([
  [{ blob: "AAA" }, "base64"],
  [{ form: "odd", head: {} }, "part"],
])("a server that sends a broken part is to blame for it: %j", async (params, named) => {
  const [mine, theirs] = linkPair();
  const server = raw(theirs);
  const dialing = dialLink(mine, { era: "modern" });
  const { id } = (await server.find((message) => message.kind === "request")) as { id: number };
  const extensions = { "dev.anywire/window": {} };
  await server.send({ jsonrpc: "2.0", id, result: { supportedVersions: ["2026-07-28"], capabilities: { extensions } } });
  const connection = await dialing;
  const read = resultOf(connection.call({ method: "resources/read", params: { uri: "x:" } }, contextOf()));
  const { id: call } = (await server.find((message) => message.kind === "request" && message.method === "resources/read")) as {
    id: number;
  };
  await server.send({ jsonrpc: "2.0", method: "notifications/dev.anywire/part", params: { call, ...params } });
  await expect(read).rejects.toMatchObject({ code: "invalid-request", message: expect.stringContaining(named) });
  await server.find((message) => message.kind === "notification" && message.method === "notifications/cancelled");
  await connection.close();
});

describe("a call that waits for answers", () => {
  const asking = () =>
    createServer({ name: "s", version: "1" }).tool("ask", {}, async function* () {
      yield* elicit({ message: "?", requestedSchema: {} });
      return "answered";
    });

  async function ask(client: Raw, id: number): Promise<JsonObject> {
    await client.send(modern(id, "tools/call", { name: "ask" }, {}, { elicitation: {} }));
    return ((await client.answer(id)) as unknown as { value: JsonObject }).value;
  }
  async function retry(client: Raw, id: number, { requestState }: JsonObject): Promise<unknown> {
    const inputResponses = { "ask-1": { action: "accept" } };
    await client.send(modern(id, "tools/call", { name: "ask", inputResponses, requestState }, {}, { elicitation: {} }));
    return client.answer(id);
  }

  it("has no place taken from it by one that was cancelled", async () => {
    const client = raw(served(asking(), { limits: { parked: 2 } }).link);
    const parked = await ask(client, 1);
    const [reached, go] = [gate(), gate()];
    const digest = crypto.subtle.digest.bind(crypto.subtle);
    const spy = vi.spyOn(crypto.subtle, "digest").mockImplementationOnce(async (...args) => {
      reached.open();
      await go;
      return digest(...args);
    });
    await client.send(modern(2, "tools/call", { name: "ask" }, {}, { elicitation: {} }));
    await reached;
    await client.send(notification("notifications/cancelled", { requestId: 2 }));
    await client.send(modern(3, "server/discover"));
    await client.answer(3);
    go.open();
    spy.mockRestore();
    expect(await ask(client, 5)).toMatchObject({ resultType: "input_required" });
    expect(await retry(client, 4, parked)).toMatchObject({ value: { content: [{ text: "answered" }] } });
    await client.link.close();
  });
});
