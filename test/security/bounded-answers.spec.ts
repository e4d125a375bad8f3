import { connect as connectTcp } from "node:net";
import { describe, expect, it } from "vitest";
import { deaf, field, framed, rpc, wideSession } from "../../bench/hostile/http2.js";
import { heldBytes } from "../../src/core/index.js";
import { lab, MIB, request, SERVICE, sendAll, socketOf, unary, until, watchHeld } from "./bounded.js";

/** A share that holds three of the answers below. */
const limits = { connectionBytes: 4 * MIB };
const SIZE = MIB;
const READS = 40;

interface Answer {
  readonly id: number;
  readonly result?: { readonly contents: readonly { readonly blob: string }[] };
  readonly error?: { readonly message: string; readonly data: { readonly limit: string; readonly max: number } };
}

/** Some come whole, and the others are told why not, and what to do. */
function judge(answers: readonly Answer[]): void {
  const whole = answers.filter(({ result }) => result !== undefined);
  const refused = answers.filter(({ error }) => error !== undefined);
  expect(whole.length + refused.length).toBe(READS);
  for (const { result } of whole) expect(result?.contents[0]?.blob).toBe(Buffer.alloc(SIZE, "b").toString("base64"));
  expect(whole.length).toBeGreaterThan(0);
  expect(whole.length).toBeLessThan(READS / 2);
  for (const { error } of refused) expect(error?.data).toEqual({ limit: "connectionBytes", max: limits.connectionBytes });
  expect(refused[0]?.error?.message).toContain("Read it in parts");
}

describe("many whole answers at once", () => {
  it("over gRPC: a call whose answer has no room fails alone, and pings are answered", async () => {
    await using at = await lab("grpc://127.0.0.1:0", limits);
    const session = await wideSession(at.port);
    const held = watchHeld();
    const reads = Array.from({ length: READS }, () => unary(session, "ReadResource", field(1, `b:${SIZE}`)));
    expect((await unary(session, "Ping", Buffer.alloc(0))).status).toBe("0");
    const outcomes = await Promise.all(reads);
    const refused = outcomes.filter(({ status }) => status === "8");
    expect(outcomes.filter(({ status, bytes }) => status === "0" && bytes > SIZE).length).toBe(READS - refused.length);
    expect(refused.length).toBeGreaterThan(READS / 2);
    expect(refused.length).toBeLessThan(READS);
    expect(refused[0]).toMatchObject({ limit: "connectionBytes", message: expect.stringContaining("ReadResourceChunked") });
    expect(held.most()).toBeLessThan(3 * limits.connectionBytes);
    session.destroy();
    await until(() => heldBytes() === 0);
  });

  it("over the tunnel", async () => {
    await using at = await lab("grpc://127.0.0.1:0", limits);
    const session = await wideSession(at.port);
    const stream = rpc(session, "/MCP/Call");
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    for (let id = 0; id < READS; id++) stream.write(framed(field(1, request(id, "resources/read", { uri: `b:${SIZE}` }))));
    const answers = (): Answer[] => {
      const bytes = Buffer.concat(chunks);
      const found: Answer[] = [];
      for (let from = 0; from + 5 <= bytes.length; ) {
        const length = bytes.readUInt32BE(from + 1);
        const message = bytes.subarray(from + 5, from + 5 + length);
        if (message.length < length) break;
        found.push(JSON.parse(message.subarray(message.indexOf("{")).toString()) as Answer);
        from += 5 + length;
      }
      return found;
    };
    await until(() => answers().length === READS);
    judge(answers());
    session.destroy();
    await until(() => heldBytes() === 0);
  });

  it("over WebSocket, also to a client that reads only afterwards", async () => {
    await using at = await lab("ws://127.0.0.1:0", limits);
    for (const reads of [true, false]) {
      const socket = await socketOf(at.port);
      const answers: Answer[] = [];
      socket.on("message", (data) => answers.push(JSON.parse(String(data)) as Answer));
      if (!reads) socket.pause();
      const held = watchHeld();
      sendAll(
        socket,
        Array.from({ length: READS }, (_, id) => request(id, "resources/read", { uri: `b:${SIZE}` })),
      );
      if (!reads) {
        await until(() => heldBytes() > SIZE);
        await new Promise((resolve) => setTimeout(resolve, 300));
        socket.resume();
      }
      await until(() => answers.length === READS);
      judge(answers);
      expect(held.most()).toBeLessThan(3 * limits.connectionBytes);
      socket.close();
      await until(() => heldBytes() === 0);
    }
  });
});

describe("answers that are never read", () => {
  it("over HTTP/2: their producers stop, and further reads are refused", async () => {
    await using at = await lab("grpc://127.0.0.1:0", { connectionBytes: 2 * MIB });
    const { socket, call } = await deaf(at.port);
    socket.write(
      Buffer.concat(Array.from({ length: 200 }, (_, n) => call(2 * n + 1, `${SERVICE}ReadResourceChunked`, field(1, "b:50000000")))),
    );
    await until(() => at.made.chunks > 10);
    await new Promise((resolve) => setTimeout(resolve, 500));
    // Each chunk is 64 KiB: without a total every one of the 200 streams would make eight of them.
    expect(at.made.chunks).toBeLessThan(120);
    expect(heldBytes()).toBeLessThan(6 * MIB);
    socket.destroy();
    await until(() => heldBytes() === 0);
  });

  it("over HTTP+SSE: calls are not taken while their answers would only pile up", async () => {
    await using at = await lab("sse+http://127.0.0.1:0", { backlogBytes: MIB / 2 });
    const base = `http://127.0.0.1:${at.port}`;
    const reader = (await fetch(`${base}/sse`)).body?.getReader();
    const target = new URL(/data: (\S+)/.exec(new TextDecoder().decode((await reader?.read())?.value))?.[1] ?? "", base);
    const gone = new AbortController();
    const post = (body: string): Promise<unknown> =>
      fetch(target, { method: "POST", headers: { "content-type": "application/json" }, body, signal: gone.signal })
        .then((answer) => answer.text())
        .catch(() => {});
    const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    await post(JSON.stringify({ jsonrpc: "2.0", id: "i", method: "initialize", params }));
    await post(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
    for (let id = 0; id < 400; id++) {
      void post(JSON.stringify({ jsonrpc: "2.0", id, method: "resources/read", params: { uri: "b:200000" } }));
      if (id % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    for (let before = -1; before !== at.made.reads; ) {
      before = at.made.reads;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    expect(at.made.reads).toBeGreaterThan(1);
    // What the kernel takes of some hundred KB each is little: without a backlog all 400 are read.
    expect(at.made.reads).toBeLessThan(100);
    gone.abort();
    await reader?.cancel();
    await until(() => heldBytes() === 0);
  });

  it("pings over WebSocket: the answers to most are left out, not that to the last", async () => {
    await using at = await lab("ws://127.0.0.1:0", {});
    const socket = await socketOf(at.port);
    const pongs: number[] = [];
    socket.on("pong", (data) => pongs.push(data.readUInt32BE(0)));
    socket.pause();
    const count = 200_000;
    const raw = (socket as unknown as { _socket: import("node:net").Socket })._socket;
    for (let from = 0; from < count; from += 10_000) {
      const many = Buffer.concat(
        Array.from({ length: 10_000 }, (_, n) => {
          const ping = Buffer.alloc(6 + 125);
          ping.set([0x89, 0x80 | 125]);
          ping.writeUInt32BE(from + n, 6);
          return ping;
        }),
      );
      await new Promise((resolve) => raw.write(many, resolve));
    }
    expect(heldBytes()).toBeLessThan(MIB);
    socket.resume();
    await until(() => pongs.at(-1) === count - 1);
    expect(pongs.length).toBeLessThan(count - 10_000);
    socket.close();
  });

  it("a connection that takes nothing is closed after stalledMs", async () => {
    await using at = await lab("grpc://127.0.0.1:0", { stalledMs: 400 });
    const { socket, call } = await deaf(at.port);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(call(1, `${SERVICE}ReadResourceChunked`, field(1, "b:50000000")));
    await until(() => heldBytes() > 0);
    socket.resume();
    await closed;
    await until(() => heldBytes() === 0);
  });

  it("a connection that takes little at a time is not closed", async () => {
    await using at = await lab("http://127.0.0.1:0", { stalledMs: 300 });
    const size = 30 * MIB;
    const socket = connectTcp({ host: "127.0.0.1", port: at.port });
    const body = request(1, "tools/call", { name: "make", arguments: { size } });
    const names = ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/call", "mcp-name: make", "content-type: application/json"];
    const head = ["POST /mcp HTTP/1.1", "host: localhost", ...names, "accept: application/json, text/event-stream"];
    const began = Date.now();
    socket.write([...head, "connection: close", `content-length: ${body.length}`, "", body].join("\r\n"));
    let bytes = 0;
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 2);
    });
    await new Promise((resolve) => socket.once("close", resolve));
    expect(bytes).toBeGreaterThan(size);
    // Longer than the time in which it would have been closed.
    expect(Date.now() - began).toBeGreaterThan(800);
    await until(() => heldBytes() === 0);
  });
});
