import { once } from "node:events";
import { createServer as createHttp, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { connect, createServer, elicit, type JsonObject, log, progress, type Server, serve, wireFor } from "../../src/api/index.js";
import { ReadResourceChunkedRequestSchema, ReadResourceChunkedResponseSchema } from "../../src/codec/gen/mcp/v1/mcp_pb.js";
import { Peer } from "../grpc/peers.js";
import { begin, json, modern, modernHeaders, until } from "./requests.js";

const PARTS = "application/vnd.anywire.parts";
const chunked = { "dev.anywire/chunked": { offset: 0, chunkSize: 4_000 } };
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A frame as it is written on the wire. */
const frame = (kind: number, payload: Uint8Array): Buffer => {
  const head = Buffer.alloc(5, kind);
  head.writeUInt32BE(payload.byteLength, 1);
  return Buffer.concat([head, payload]);
};
const told = (message: JsonObject): Buffer => frame(0, Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message })));

/** The frames of an answer: messages parsed, bytes as they are. */
async function* framesOf(answer: IncomingMessage): AsyncGenerator<JsonObject | Buffer> {
  let held = Buffer.alloc(0);
  for await (const chunk of answer) {
    held = Buffer.concat([held, chunk as Buffer]);
    while (held.length >= 5 && held.length >= 5 + held.readUInt32BE(1)) {
      const end = 5 + held.readUInt32BE(1);
      const payload = held.subarray(5, end);
      yield held[0] === 1 ? payload : (JSON.parse(payload.toString()) as JsonObject);
      held = held.subarray(end);
    }
  }
}

function post(url: string, headers: Record<string, string>, body: JsonObject): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers: { ...headers, accept: `${json["accept"]}, ${PARTS}` }, agent: false }, resolve);
    sent.once("error", reject);
    sent.end(JSON.stringify(body));
  });
}

function source(): Server & { readonly ended: number } {
  const state = { ended: 0 };
  const server = createServer({ name: "source", version: "1" })
    .resource({ name: "told", uri: "told:///" }, async function* () {
      yield progress(1, 2);
      yield new Uint8Array(SIZE).fill(1);
      yield log("info", "half way");
      yield new Uint8Array([4, 5]);
    })
    .resource({ name: "text", uri: "text:///" }, async function* () {
      yield "a\ud800b".repeat(8_000);
      yield "é".repeat(8_000);
    })
    .resource({ name: "asks", uri: "asks:///" }, async function* () {
      yield new Uint8Array(300_000);
      const { content } = yield* elicit({
        message: "how much?",
        requestedSchema: { type: "object", properties: { n: { type: "number" } } },
      });
      yield new Uint8Array(Number(content?.["n"]));
    })
    .resource({ name: "endless", uri: "endless:///" }, async function* (_uri, { cancel }) {
      cancel.on(() => void state.ended++);
      for (;;) {
        yield new Uint8Array(50_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })
    .resource({ name: "breaks", uri: "breaks:///" }, async function* () {
      yield new Uint8Array(SIZE);
      throw new Error("no more");
    });
  return Object.defineProperty(server, "ended", { get: () => state.ended }) as Server & { readonly ended: number };
}

async function listening(): Promise<{ url: string; server: ReturnType<typeof source> }> {
  const server = source();
  const listener = await serve(server, "http://127.0.0.1:0");
  closing.push(() => listener.close());
  return { url: listener.address, server };
}

type Ask = (uri: string, meta?: JsonObject) => Promise<IncomingMessage>;
const eras: Record<string, (url: string) => Promise<Ask>> = {
  modern: async (url) => (uri, more) => {
    const body = modern("r", "resources/read", { uri, _meta: { ...chunked, ...more, "io.modelcontextprotocol/logLevel": "debug" } });
    return post(url, modernHeaders(body), body);
  },
  legacy: async (url) => {
    const session = { ...json, ...(await begin(url)) };
    return (uri, more) =>
      post(url, session, { jsonrpc: "2.0", id: "r", method: "resources/read", params: { uri, _meta: { ...chunked, ...more } } });
  },
};

/** What no single message would hold. */
const SIZE = 40_000;

describe.each(Object.entries(eras))("a read that is asked for in parts over HTTP, %s", (_name, open) => {
  it("comes as messages and bytes, in the order in which the server made them", async () => {
    const { url } = await listening();
    const read = await open(url);
    const answer = await read("told:///", { progressToken: "p" });
    expect(answer.headers["content-type"]).toBe(PARTS);
    const seen: unknown[] = [];
    for await (const each of framesOf(answer))
      seen.push(Buffer.isBuffer(each) ? [...each] : (each["method"] ?? Object.keys(each["result"] as JsonObject)));
    expect(seen.slice(0, -1)).toEqual([
      "notifications/progress",
      "notifications/dev.anywire/part",
      ...Array.from({ length: SIZE / 4_000 }, () => Array.from({ length: 4_000 }, () => 1)),
      "notifications/message",
      [4, 5],
    ]);
  });

  it("keeps text that no UTF-8 can carry", async () => {
    const { url } = await listening();
    const parts: JsonObject[] = [];
    for await (const each of framesOf(await (await open(url))("text:///")))
      if (!Buffer.isBuffer(each) && each["params"] !== undefined) parts.push(each["params"] as JsonObject);
    const text = parts.slice(1).map((part) => part["text"]);
    expect(text.join("") === "a\ud800b".repeat(8_000) + "é".repeat(8_000)).toBe(true);
  });

  it("ends its source as soon as its client leaves", async () => {
    const { url, server } = await listening();
    const answer = await (await open(url))("endless:///");
    for await (const each of framesOf(answer)) if (Buffer.isBuffer(each)) break;
    answer.destroy();
    await until(() => server.ended === 1);
  });

  it("tells of an error in its middle", async () => {
    const { url } = await listening();
    let last: JsonObject | Buffer | undefined;
    for await (const each of framesOf(await (await open(url))("breaks:///"))) last = each;
    expect(last).toMatchObject({ id: "r", error: { code: -32603 } });
  });
});

it("a client that does not ask for parts gets JSON, even if it says how it would like them", async () => {
  const { url } = await listening();
  const body = modern(1, "resources/read", { uri: "text:///", _meta: chunked });
  const answer = await fetch(url, { method: "POST", headers: modernHeaders(body), body: JSON.stringify(body) });
  expect(((await answer.json()) as { result: JsonObject }).result["contents"]).toEqual([
    { uri: "text:///", text: "a\ud800b".repeat(8_000) + "é".repeat(8_000) },
  ]);
});

describe("reading from a server that answers in parts", () => {
  /** Answers every read with `frames`, in pieces of `size` bytes. */
  async function raw(frames: Buffer, size: number): Promise<{ url: string; accepts: string[] }> {
    const accepts: string[] = [];
    const server = createHttp(async (incoming, response) => {
      let text = "";
      for await (const chunk of incoming) text += chunk;
      const { id, method } = JSON.parse(text) as { id?: number; method: string };
      if (id === undefined) return void response.writeHead(202).end();
      if (method === "server/discover") {
        const capabilities = { resources: {}, extensions: { "dev.anywire/window": {} } };
        const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities };
        return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      }
      accepts.push(incoming.headers.accept ?? "");
      response.writeHead(200, { "content-type": PARTS });
      const whole = Buffer.concat([frames, frames.length === 0 ? frames : told({ id, result: { resultType: "complete", more: 1 } })]);
      for (let at = 0; at < whole.length; at += size) {
        if (!response.write(whole.subarray(at, at + size))) await once(response, "drain");
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, accepts };
  }
  const part = (params: JsonObject): Buffer => told({ method: "notifications/dev.anywire/part", params });

  it.each([1, 7, 100_000])("takes frames apart wherever they were cut: %i bytes at a time", async (size) => {
    const frames = [
      part({ kind: "content", form: "blob", head: { uri: "x:", mimeType: "a/b" } }),
      frame(1, Buffer.from([1, 2, 3])),
      frame(0, Buffer.alloc(0)),
      frame(1, Buffer.alloc(0)),
      frame(1, Buffer.from([4])),
      part({ kind: "content", form: "text", head: { uri: "y:" } }),
      part({ text: "é\ud800" }),
    ];
    const { url, accepts } = await raw(Buffer.concat(frames), size);
    await using client = await connect(url, { era: "modern" });
    expect(await client.readResource("x:")).toMatchObject({
      contents: [
        { uri: "x:", mimeType: "a/b", blob: "AQIDBA==" },
        { uri: "y:", text: "é\ud800" },
      ],
      more: 1,
    });
    expect(accepts).toEqual([`application/json, text/event-stream, ${PARTS}`]);
  });

  it.each([
    ["a frame of an unknown kind", frame(7, Buffer.from("x")), { code: "parse" }],
    ["a part that is none", part({ kind: "content", form: "odd", head: {} }), { code: "invalid-request" }],
    ["a message that is too long", Buffer.from([0, 255, 255, 255, 255]), { code: "overload", data: { limit: "messageBytes" } }],
    ["no answer", Buffer.alloc(0), { code: "unavailable" }],
  ])("fails the call on %s, and that alone", async (_what, bytes, fault) => {
    const { url } = await raw(bytes, 1000);
    await using client = await connect(url, { era: "modern" });
    await expect(client.readResource("x:")).rejects.toMatchObject(fault);
    await expect(client.readResource("x:")).rejects.toMatchObject(fault);
  });
});

it.each(["modern", "legacy"] as const)("a read that asks in its middle goes on: %s", async (era) => {
  const { url } = await listening();
  await using client = await connect(url, { era, elicit: () => ({ action: "accept", content: { n: 7 } }) });
  let bytes = 0;
  for await (const { data } of client.readChunks("asks:///")) bytes += data.length;
  expect(bytes).toBe(300_007);
});

it.each(["modern", "legacy"] as const)("leaving a read at a gRPC listener ends its source behind HTTP: %s upstream", async (era) => {
  const { url, server } = await listening();
  const wire = await wireFor(url);
  const upstream = await wire.dial(url, { era });
  closing.push(() => upstream.close());
  const relay = await serve(upstream, "grpc://127.0.0.1:0");
  closing.push(() => relay.close());
  using peer = new Peer(relay.address);
  const read = peer.stream(
    "/mcp.v1.McpService/ReadResourceChunked",
    [ReadResourceChunkedRequestSchema, ReadResourceChunkedResponseSchema],
    { uri: "endless:///" },
  );
  read.on("error", () => {});
  await once(read, "data");
  read.cancel();
  await until(() => server.ended === 1);
});
