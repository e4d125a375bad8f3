import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { connect, createServer, type Listener, type Server, serve } from "../../src/api/index.js";
import { decodeMessage, decodeToClient, encodeMessage, encodeToServer } from "../../src/codec/mcpv1/index.js";
import { type Channel, type ClientCall, grpcChannel } from "../../src/io/index.js";

const SERVICE = "/mcp.v1.McpService/";
const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };

let listener: Listener;
let channel: Channel;
let started = 0;
let left = 0;

function sample(): Server {
  return createServer({ name: "sample", version: "1" })
    .tool("echo", {}, ({ text }) => String(text))
    .tool("large", {}, () => "x".repeat(100_000))
    .tool("meta", {}, (_args, ctx) => JSON.stringify(ctx.request.params["_meta"]))
    .tool("wait", {}, (_args, ctx) => {
      started++;
      return new Promise((resolve) =>
        ctx.cancel.on(() => {
          left++;
          resolve("left");
        }),
      );
    })
    .resource({ uri: "test://octets", name: "octets" }, async function* () {
      yield new Uint8Array(65_536).fill(7);
    });
}

beforeAll(async () => {
  // Some of these tests make answers large by their ids.
  listener = await serve(sample(), "grpc://127.0.0.1:0", { limits: { idChars: 200_000 } });
  channel = grpcChannel([{ host: "127.0.0.1", port: Number(listener.address.split(":").at(-1)) }]);
});
afterAll(async () => {
  await channel.close();
  await listener.close();
});

interface Stream {
  readonly call: ClientCall;
  readonly seen: Exclude<ReturnType<typeof decodeToClient>, readonly unknown[]>[];
  request(id: string, method: string, params: object): Promise<void> | undefined;
  cancel(id: string): Promise<void> | undefined;
}

function stream(metadata: Record<string, string> = {}): Stream {
  const call = channel.call(`${SERVICE}Session`, { metadata });
  const seen: Stream["seen"][number][] = [];
  const methods = new Map<unknown, string>();
  void (async () => {
    for await (const frames of call.messages)
      for (const frame of frames) seen.push(...[decodeToClient(frame, (id) => methods.get(id))].flat());
  })().catch(() => {});
  return {
    call,
    seen,
    request(id, method, params) {
      methods.set(id, method);
      return call.send(encodeToServer({ jsonrpc: "2.0", id, method, params: params as never }, { twin: true }));
    },
    cancel: (id) =>
      call.send(encodeToServer({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } }, { twin: true })),
  };
}

async function initialised(): Promise<string> {
  const call = channel.call(`${SERVICE}Initialize`);
  void call.send(encodeMessage("InitializeRequest", initialize, { twin: true }));
  call.done();
  expect((await call.status).code).toBe(0);
  return String((await call.headers)["mcp-session-id"]);
}

function toolCalls(metadata: Record<string, string> = {}): {
  call: ClientCall;
  ask(requestId: string, name: string): Promise<void> | undefined;
} {
  const call = channel.call(`${SERVICE}StreamToolCalls`, { metadata });
  const ask = (requestId: string, name: string): Promise<void> | undefined =>
    call.send(encodeMessage("StreamToolCallsRequest", { requestId, params: { name, arguments: { text: name } } }, { twin: true }));
  return { call, ask };
}

async function answers(call: ClientCall): Promise<unknown[]> {
  const got: unknown[] = [];
  for await (const batch of call.messages) for (const bytes of batch) got.push(decodeMessage("StreamToolCallsResponse", bytes));
  return got;
}

describe("a Session", () => {
  it("brings octets to a call with a long id whole", async () => {
    const { call, seen, request } = stream();
    const id = "i".repeat(40_000);
    request(id, "resources/read", { uri: "test://octets", _meta: { "dev.anywire/chunked": { offset: 0, chunkSize: 65_536 } } });
    request("after", "tools/call", { name: "echo", arguments: { text: "fine" } });
    await vi.waitFor(() => {
      expect(seen).toContainEqual(expect.objectContaining({ kind: "result", id }));
      expect(seen).toContainEqual(expect.objectContaining({ kind: "result", id: "after" }));
    });
    const chunks = seen.flatMap((each) => (each.kind === "part" && each.part.kind === "chunk" ? [each.part.data.length] : []));
    expect(chunks.reduce((sum, length) => sum + length, 0)).toBe(65_536);
    call.cancel();
  });

  it("goes on when a second stream in its name is refused", async () => {
    const first = stream();
    const id = String((await first.call.headers)["mcp-session-id"]);
    const second = stream({ "mcp-session-id": id });
    expect(await second.call.status).toMatchObject({ code: 3 });
    first.request("1", "tools/call", { name: "echo", arguments: { text: "here" } });
    await vi.waitFor(() => expect(first.seen).toContainEqual(expect.objectContaining({ kind: "result", id: "1" })));
    first.call.cancel();
  });

  it("that is dropped cancels its calls, also where the session stays", async () => {
    const id = await initialised();
    const before = { started, left };
    const dropped = stream({ "mcp-session-id": id });
    dropped.request("1", "tools/call", { name: "wait" });
    await vi.waitFor(() => expect(started).toBe(before.started + 1));
    dropped.call.cancel();
    await vi.waitFor(() => expect(left).toBe(before.left + 1));
    const next = stream({ "mcp-session-id": id });
    await vi.waitFor(async () => {
      next.request("1", "tools/call", { name: "echo" });
      expect(next.seen).toContainEqual(expect.objectContaining({ kind: "result", id: "1" }));
    });
    next.call.cancel();
  });

  it("begins once", async () => {
    const { call, seen, request } = stream();
    request("1", "initialize", initialize);
    request("2", "initialize", initialize);
    await vi.waitFor(() => expect(seen).toContainEqual(expect.objectContaining({ kind: "error", id: "2" })));
    expect(seen).toContainEqual(expect.objectContaining({ kind: "result", id: "1" }));
    call.cancel();
  });

  it("whose client does not read what its cancels are answered with takes no more of them", async () => {
    const before = started;
    const call = channel.call(`${SERVICE}Session`);
    const pairs = 600;
    void (async () => {
      for (let at = 0; at < pairs; at++) {
        const id = `${at}-${"x".repeat(100_000)}`;
        await call.send(encodeToServer({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "wait" } }, { twin: true }));
        await call.send(encodeToServer({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } }, { twin: true }));
      }
    })().catch(() => {});
    await vi.waitFor(() => expect(started - before).toBeGreaterThan(10));
    let last = -1;
    await vi.waitFor(
      () => {
        const now = started;
        const settled = now === last;
        last = now;
        expect(settled).toBe(true);
      },
      { interval: 300, timeout: 20_000 },
    );
    expect(started - before).toBeLessThan(pairs);
    call.cancel();
  });
});

describe("StreamToolCalls", () => {
  it("keeps apart two streams of a session that use the same ids", async () => {
    const metadata = { "mcp-session-id": await initialised() };
    const before = { started, left };
    const first = toolCalls(metadata);
    first.ask("1", "wait");
    await vi.waitFor(() => expect(started).toBe(before.started + 1));
    const second = toolCalls(metadata);
    second.ask("1", "echo");
    second.call.done();
    expect(await answers(second.call)).toEqual([{ requestId: "1", success: expect.anything() }]);
    expect(left).toBe(before.left);
    first.call.cancel();
    await vi.waitFor(() => expect(left).toBe(before.left + 1));
  });

  it("cancels its calls when it ends by a message that makes no sense", async () => {
    const before = { started, left };
    const { call, ask } = toolCalls();
    ask("1", "wait");
    await vi.waitFor(() => expect(started).toBe(before.started + 1));
    void call.send(Uint8Array.of(0xff));
    expect(await call.status).toMatchObject({ code: 3 });
    await vi.waitFor(() => expect(left).toBe(before.left + 1));
  });

  it("answers for itself a call that its metadata does not fit", async () => {
    const { call, ask } = toolCalls({ "mcp-name": "echo" });
    ask("1", "large");
    ask("2", "echo");
    call.done();
    expect(await answers(call)).toEqual(
      expect.arrayContaining([
        { requestId: "1", error: expect.objectContaining({ message: expect.stringContaining("mcp-name") }) },
        { requestId: "2", success: expect.anything() },
      ]),
    );
  });

  it("takes no more calls than its client reads answers", async () => {
    const rss = process.memoryUsage().rss;
    const { call, ask } = toolCalls();
    for (let at = 0; at < 4000; at++) void ask(String(at), "large");
    const other = toolCalls();
    for (let at = 0; at < 200; at++) other.ask(String(at), "echo");
    other.call.done();
    expect(await answers(other.call)).toHaveLength(200);
    await vi.waitFor(() => expect(call.backlog).toBeLessThan(1024 * 1024));
    // All answers would be 400 MB.
    expect((process.memoryUsage().rss - rss) / 1024 ** 2).toBeLessThan(200);
    call.cancel();
  });
});

describe("a legacy client", () => {
  it("reads on after its server came back", async () => {
    const first = await serve(sample(), "grpc://127.0.0.1:0");
    const client = await connect(first.address, { era: "legacy" });
    const read = async (): Promise<void> => {
      const { contents } = await client.readResource("test://octets");
      expect(contents).toHaveLength(1);
    };
    await read();
    await first.close();
    const second = await serve(sample(), first.address);
    await vi.waitFor(read, { timeout: 20_000, interval: 100 });
    await client.callTool("echo", { text: "x" });
    await read();
    await client.close();
    await second.close();
  });
});

it("says of itself in every request what is so then", async () => {
  await using client = await connect(listener.address);
  const given = { "test/state": { step: 1 } };
  const first = await client.callTool("meta", {}, { meta: given });
  given["test/state"].step = 2;
  const second = await client.callTool("meta", {}, { meta: given });
  expect([first, second].map(({ content }) => JSON.stringify(content).includes('step\\":2'))).toEqual([false, true]);
});

it("a child that dies ends each of its calls with how it died", async () => {
  const file = join(tmpdir(), `anywire-${crypto.randomUUID()}.mjs`);
  const api = new URL("../../dist/api/index.js", import.meta.url).href;
  await writeFile(
    file,
    `import { createServer, serve } from ${JSON.stringify(api)};
    const server = createServer({ name: "mortal", version: "1" })
      .tool("wait", {}, () => new Promise(() => {}))
      .tool("die", {}, () => { process.stderr.write("last words\\n"); process.exit(3); });
    await serve(server, "grpc+stdio:");`,
  );
  const lines: string[] = [];
  const client = await connect({ command: process.execPath, args: [file], speaks: "grpc+stdio" }, { onStderr: (line) => lines.push(line) });
  const ended = await Promise.allSettled([client.callTool("wait"), client.callTool("wait"), client.callTool("die")]);
  for (const each of ended)
    expect(each).toMatchObject({ reason: { code: "unavailable", message: "the server exited with code 3", data: { reason: "exited" } } });
  await vi.waitFor(() => expect(lines).toContain("last words"));
  await client.close();
  await rm(file);
});
