import { afterEach, describe, expect, it, vi } from "vitest";
import { connect, serve } from "../../src/api/index.js";
import type { Limits } from "../../src/core/index.js";
import {
  createServer,
  elicit,
  type Fault,
  guard,
  type JsonObject,
  type McpClient,
  once,
  type Reply,
  resultOf,
  type Service,
  weigh,
} from "../../src/core/index.js";
import { type RangePeer, rangedRead } from "../../src/era/dial/ranged.js";
import { contextOf } from "../calls.js";
import { gate } from "../support/peer.js";
import { modern, notification, type Raw, raw, served } from "./raw.js";

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

function read(client: Raw, id: number, length: number): Promise<JsonObject> {
  void client.send(modern(id, "resources/read", { uri: "x:" }, { "dev.anywire/range": { offset: 0, length } }));
  return client.answer(id).then((message) => ("value" in message ? message.value : {}));
}

describe("one range", () => {
  it("has a bound, whatever its reader asks for", async () => {
    const service = reading(async function* () {
      yield { kind: "content", form: "blob", head: { uri: "x:" } };
      for (;;) yield { kind: "chunk", data: new Uint8Array(10_000) };
    });
    const client = raw(served(service).link);
    const { contents } = await read(client, 1, Number.MAX_SAFE_INTEGER);
    expect(weigh(contents)).toBeLessThan(2_000_000);
    await client.link.close();
  });

  it("counts what contents say of themselves, also where they have no data", async () => {
    const service = reading(async function* () {
      for (let at = 0; ; at++) yield { kind: "content", form: "none", head: { uri: `x:${at}`, note: "n".repeat(100) } };
    });
    const client = raw(served(service).link);
    const { contents } = await read(client, 1, 10_000);
    expect((contents as unknown[]).length).toBeLessThan(200);
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

it("a server that sends broken base64 is to blame for it", async () => {
  const peer: RangePeer = {
    call: (_, context) =>
      once(context, () => ({
        contents: [{ uri: "x:", blob: "AAA" }],
        _meta: { "dev.anywire/range": { pieces: [{ form: "blob", start: true }] } },
      })),
    release() {},
  };
  const read = rangedRead(peer, { method: "resources/read", params: { uri: "x:" } }, contextOf());
  await expect(resultOf(read)).rejects.toMatchObject({ code: "invalid-request", message: expect.stringContaining("base64") });
});

describe("a read whose parked rest was let go of", () => {
  const size = 700_000;
  const text = Array.from({ length: size / 7 }, (_, at) => `${String(at).padStart(5, "0")}é`).join("");

  async function two(service: Service): Promise<string[]> {
    // Two reads in turn and room for one: each pushes the other out between any two ranges.
    const client = await open(service, { parked: 1 });
    const reads = [client.readChunks("x:"), client.readChunks("x:")];
    const texts = ["", ""];
    for (let open = 2; open > 0; ) {
      open = 0;
      for (const [at, stream] of reads.entries()) {
        const step = await stream.next();
        if (step.done !== true) {
          texts[at] = `${texts[at]}${step.value.data}`;
          open++;
        }
      }
    }
    return texts;
  }

  it("goes on where it was", async () => {
    const streamed = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, () => ({ data: text }));
    expect((await two(streamed)).map((got) => got === text)).toEqual([true, true]);
  });

  it("goes on where it was, also where the server knows of no offsets", async () => {
    const whole = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, (uri) => ({ contents: [{ uri, text }] }));
    expect((await two(whole)).map((got) => got === text)).toEqual([true, true]);
  });

  it("is one content when it is collected", async () => {
    const server = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, () => ({ data: text }));
    const client = await open(server, { parked: 1 });
    const [a, b] = await Promise.all([client.readResource("x:"), client.readResource("x:")]);
    expect([a.contents.length, a.contents[0]?.text === text]).toEqual([1, true]);
    expect([b.contents.length, b.contents[0]?.text === text]).toEqual([1, true]);
  });

  it("fails rather than tell a content twice, where there are several", async () => {
    const server = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, async function* () {
      yield { uri: "x:1", data: text };
      yield { uri: "x:2", data: text };
    });
    const outcomes = await two(server).catch((error: Fault) => error);
    expect(outcomes).toMatchObject({ code: "unavailable", data: { reason: "expired" } });
  });
});

describe("a call that waits for answers", () => {
  const asking = () =>
    createServer({ name: "s", version: "1" })
      .tool("ask", {}, async function* () {
        yield* elicit({ message: "?", requestedSchema: {} });
        return "answered";
      })
      .resource({ uri: "x:", name: "x" }, async function* () {
        for (;;) yield new Uint8Array(10_000);
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

  it("is not displaced by reads", async () => {
    const client = raw(served(asking(), { limits: { parked: 2 } }).link);
    const parked = await ask(client, 1);
    for (let id = 10; id < 20; id++) await read(client, id, 1_000);
    expect(await retry(client, 2, parked)).toMatchObject({ value: { content: [{ text: "answered" }] } });
    await client.link.close();
  });

  it("is not displaced by one that was cancelled", async () => {
    const client = raw(served(asking(), { limits: { parked: 1 } }).link);
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
    expect(await retry(client, 4, parked)).toMatchObject({ value: { content: [{ text: "answered" }] } });
    await client.link.close();
  });
});
