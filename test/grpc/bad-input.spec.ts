import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { connect, createServer, type Listener, type McpClient, serve } from "../../src/api/index.js";
import { decodeToClient, encodeMessage, encodeToServer } from "../../src/codec/mcpv1/index.js";
import { type Channel, type ClientCall, grpcChannel } from "../../src/io/index.js";

const SERVICE = "/mcp.v1.McpService/";
const INVALID_ARGUMENT = 3;
const RESOURCE_EXHAUSTED = 8;
const UNIMPLEMENTED = 12;

let listener: Listener;
let channel: Channel;
let neighbour: McpClient;
const left = vi.fn();

beforeAll(async () => {
  const server = createServer({ name: "victim", version: "1" })
    .tool("echo", {}, (args) => ({ content: [], structuredContent: args }))
    .tool("wait", {}, (_args, ctx) => new Promise((resolve) => ctx.cancel.on(() => resolve(String(left())))))
    .tool("flood", {}, async function* () {
      for (let at = 0; ; at++) yield { kind: "progress" as const, params: { progress: at, message: "x".repeat(10_000) } };
    })
    .resource({ uri: "test://endless", name: "endless" }, async function* (_uri, ctx) {
      while (!ctx.cancel.fired) yield new Uint8Array(65_536);
    });
  listener = await serve(server, "grpc://127.0.0.1:0", { limits: { messageBytes: 1024 * 1024 } });
  channel = grpcChannel([{ host: "127.0.0.1", port: Number(listener.address.split(":").at(-1)) }]);
  neighbour = await connect(listener.address);
});
afterAll(async () => {
  await neighbour.close();
  await channel.close();
  await listener.close();
});

/** The neighbour is served on, whatever was sent beside it. */
async function unharmed(): Promise<void> {
  expect((await neighbour.callTool("echo", { fine: true })).structuredContent).toEqual({ fine: true });
}

async function unary(method: string, bytes: Uint8Array): Promise<{ code: number; message?: string | undefined; error: unknown }> {
  const call = channel.call(SERVICE + method);
  void call.send(bytes)?.catch(() => {});
  call.done();
  const { code, message, metadata } = await call.status;
  return { code, message, error: metadata?.["mcp-error-code"] };
}

const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) | 0x80, ...varint(Math.floor(value / 128))]);
const field = (tag: number, inner: Uint8Array): Uint8Array => Uint8Array.from([...varint(tag), ...varint(inner.length), ...inner]);

/** A google.protobuf.Value nested `depth` deep: lists in lists. */
function nested(depth: number): Uint8Array {
  // Built from the inside with the lengths counted first, for it would be copied 100,000 times otherwise.
  const heads: number[][] = [];
  let length = 0;
  for (let at = 0; at < depth; at++) {
    // A value in a list, and the list as a value.
    for (const tag of [0x0a, 0x32]) {
      const head = [tag, ...varint(length)];
      length += head.length;
      heads.push(head);
    }
  }
  return Uint8Array.from(heads.reverse().flat());
}

describe("an RPC with a message that is none", () => {
  it("fails alone, as INVALID_ARGUMENT", async () => {
    for (const bytes of [[0xff], [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], [0x0a, 2, 0xc3, 0x28], [0x08, 1], [0x0c], Array(11).fill(0x80)]) {
      expect(await unary("CallTool", Uint8Array.from(bytes)), JSON.stringify(bytes)).toMatchObject({ code: INVALID_ARGUMENT });
    }
    await unharmed();
  });

  it("nested 10^5 deep is refused (row 23)", async () => {
    const deep = nested(100_000);
    // arguments: a Struct whose one field holds it.
    const entry = Uint8Array.from([0x0a, 1, 0x61, ...field(0x12, deep)]);
    const request = Uint8Array.from([0x0a, 4, 0x65, 0x63, 0x68, 0x6f, ...field(0x12, field(0x0a, entry))]);
    expect(await unary("CallTool", request)).toMatchObject({ code: INVALID_ARGUMENT });
    await unharmed();
  });

  it("that hides prototypes is data and nothing else (row 21)", async () => {
    const args = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    for (const twin of [true, false]) {
      expect(await unary("CallTool", encodeMessage("CallToolRequest", { name: "echo", arguments: args }, { twin }))).toMatchObject({
        code: 0,
      });
    }
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    const answer = await neighbour.callTool("echo", args);
    expect(JSON.stringify(answer.structuredContent)).toBe(JSON.stringify(args));
  });

  it("larger than the limit is RESOURCE_EXHAUSTED, and so is none at all INVALID_ARGUMENT", async () => {
    expect(await unary("CallTool", new Uint8Array(2 * 1024 * 1024))).toMatchObject({ code: RESOURCE_EXHAUSTED });
    const call = channel.call(`${SERVICE}CallTool`);
    call.done();
    expect(await call.status).toMatchObject({ code: INVALID_ARGUMENT });
    expect(await unary("NoSuch", new Uint8Array())).toMatchObject({ code: UNIMPLEMENTED });
    await unharmed();
  });
});

/** A Session whose frames are looked at. */
function session(): { call: ClientCall; seen: ReturnType<typeof decodeToClient>[]; send(bytes: Uint8Array): void } {
  const call = channel.call(`${SERVICE}Session`);
  const seen: ReturnType<typeof decodeToClient>[] = [];
  void (async () => {
    for await (const frames of call.messages) for (const frame of frames) seen.push(decodeToClient(frame, () => undefined));
  })().catch(() => {});
  return { call, seen, send: (bytes) => void call.send(bytes)?.catch(() => {}) };
}

const request = (id: string, name: string, args = {}): Uint8Array =>
  encodeToServer({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } }, { twin: true });

describe("a Session", () => {
  it("answers a frame without a payload, one with a broken one, and an id that is in use, each for itself", async () => {
    const { call, seen, send } = session();
    send(request("live", "wait"));
    send(Uint8Array.of(0x0a, 1, 0x61));
    send(Uint8Array.of(0x0a, 1, 0x62, 0x6a, 1, 0xff));
    send(Uint8Array.of(0x0a, 1, 0x63, 0xa2, 0x06, 0));
    send(request("live", "echo"));
    send(request("fine", "echo", { still: "here" }));
    await vi.waitFor(() => {
      const answered = seen.flat();
      for (const id of ["a", "b", "c", "live"]) expect(answered, id).toContainEqual(expect.objectContaining({ kind: "error", id }));
      expect(answered).toContainEqual(
        expect.objectContaining({ kind: "result", id: "fine", value: expect.objectContaining({ structuredContent: { still: "here" } }) }),
      );
    });
    // The first of the two with one id is still being answered.
    const before = left.mock.calls.length;
    send(encodeToServer({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "live" } }, { twin: true }));
    await vi.waitFor(() => expect(left.mock.calls.length).toBe(before + 1));
    call.cancel();
    await unharmed();
  });

  it("whose frame cannot be read at all ends, and its calls with it", async () => {
    const { call, send } = session();
    const before = left.mock.calls.length;
    send(request("1", "wait"));
    send(Uint8Array.of(0xff, 0xff));
    expect(await call.status).toMatchObject({ code: INVALID_ARGUMENT });
    await vi.waitFor(() => expect(left.mock.calls.length).toBe(before + 1));
    await unharmed();
  });

  it("cancelled by the thousand leaves nothing behind", async () => {
    const before = left.mock.calls.length;
    for (let at = 0; at < 200; at++) {
      const { call, send } = session();
      send(request("1", "wait"));
      await call.headers;
      call.cancel();
    }
    await vi.waitFor(() => expect(left.mock.calls.length).toBeGreaterThan(before + 150), { timeout: 20_000 });
    await unharmed();
  });
});

describe("a reader that stops", () => {
  it("holds up its own producer, and nobody else", async () => {
    const used = process.memoryUsage().rss;
    const calls = ["CallToolWithProgress", "ReadResourceChunked"].map((method, at) => {
      const call = channel.call(SERVICE + method);
      const bytes =
        at === 0
          ? encodeMessage("CallToolWithProgressRequest", { name: "flood" }, { twin: true })
          : encodeMessage("ReadResourceChunkedRequest", { uri: "test://endless" }, { twin: true });
      void call.send(bytes);
      call.done();
      return call;
    });
    await Promise.all(calls.map((call) => call.headers.catch(() => {})));
    for (let at = 0; at < 200; at++) await unharmed();
    // Two windows of 8 MiB, both ends in this process, and room for the collector.
    expect((process.memoryUsage().rss - used) / 1024 ** 2).toBeLessThan(150);
    for (const call of calls) call.cancel();
    await unharmed();
  });
});
