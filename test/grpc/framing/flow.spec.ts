import { once } from "node:events";
import { connect } from "node:http2";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Channel, grpcChannel, type ServerCall } from "../../../src/io/index.js";
import { collect, echo, type Handle, type Served, serve } from "./support.js";

const CHUNK = 64 * 1024;
/** The window of a stream, what waits at either end, and what is under way. */
const BOUND = (16 + 2) << 20;

let served: Served | undefined;
let channel: Channel | undefined;
afterEach(async () => {
  await channel?.close();
  await served?.close();
});

async function start(handle: Handle): Promise<Channel> {
  served = await serve(handle);
  channel = grpcChannel([{ host: "127.0.0.1", port: served.port }]);
  return channel;
}

async function neighbour(dialled: Channel): Promise<void> {
  for (let at = 0; at < 20; at++) {
    const call = dialled.call("/echo");
    call.send(new Uint8Array(CHUNK));
    call.done();
    expect((await collect(call)).messages[0]?.length).toBe(CHUNK);
  }
}

/** Sends until there is no room; gives up the wait as soon as it lasts. */
async function fill(send: (message: Uint8Array) => Promise<void> | undefined): Promise<number> {
  let sent = 0;
  for (;;) {
    const room = send(new Uint8Array(CHUNK));
    sent += CHUNK;
    if (sent > 4 * BOUND) return sent;
    if (room === undefined) continue;
    const stuck = new Promise<boolean>((resolve) => setTimeout(resolve, 500, true).unref());
    if (await Promise.race([room.then(() => false), stuck])) return sent;
  }
}

describe("a reader that stops", () => {
  it("holds the client up, and nobody else", async () => {
    let go: () => void = () => {};
    let got = 0;
    const slow = async (call: ServerCall): Promise<void> => {
      if (call.path === "/echo") return echo(call);
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      for await (const batch of call.messages) for (const message of batch) got += message.length;
      call.end({ code: 0 });
    };
    const dialled = await start(slow);
    const call = dialled.call("/slow");
    const sent = await fill((message) => call.send(message));
    expect(sent).toBeGreaterThan(CHUNK);
    expect(sent).toBeLessThan(BOUND);
    expect(call.backlog).toBeLessThan(1 << 20);
    await neighbour(dialled);
    go();
    call.done();
    expect((await call.status).code).toBe(0);
    expect(got).toBe(sent);
  });

  it("holds the server up, and nobody else", async () => {
    let sent = 0;
    let backlog = 0;
    const fast = async (call: ServerCall): Promise<void> => {
      if (call.path === "/echo") return echo(call);
      sent = await fill((message) => call.send(message));
      backlog = call.backlog;
      call.end({ code: 0 });
    };
    const dialled = await start(fast);
    const call = dialled.call("/fast");
    call.done();
    await vi.waitFor(() => expect(sent).toBeGreaterThan(0), { timeout: 20_000 });
    expect(sent).toBeLessThan(BOUND);
    expect(backlog).toBeLessThan(1 << 20);
    await neighbour(dialled);
    let got = 0;
    for await (const batch of call.messages) for (const message of batch) got += message.length;
    expect(got).toBe(sent);
    expect((await call.status).code).toBe(0);
  });

  it("refuses the calls of a client that has too many of them unread", async () => {
    let go: () => void = () => {};
    const started = new Promise<void>((resolve) => {
      go = resolve;
    });
    const dialled = await start(async (call) => {
      await started;
      for await (const _ of call.messages);
      call.end({ code: 0 });
    });
    const calls = Array.from({ length: 70 }, () => {
      const call = dialled.call("/slow");
      call.send(new Uint8Array(300_000));
      call.done();
      return call;
    });
    let refused = 0;
    for (const call of calls) void call.status.then(({ code }) => (refused += code === 8 ? 1 : 0));
    await vi.waitFor(() => expect(refused).toBe(6), { timeout: 10_000 });
    go();
    const codes = (await Promise.all(calls.map((call) => call.status))).map(({ code }) => code);
    expect(codes.filter((code) => code === 0).length).toBe(64);
  });

  it("does not keep a call that has ended past its deadline", async () => {
    let sent = 0;
    const dialled = await start((call) => {
      while (sent < 64 << 20) {
        void call.send(new Uint8Array(1 << 20));
        sent += 1 << 20;
      }
      call.end({ code: 0 });
    });
    // The client's own deadline is not what ends it here: the window is full, and the status behind it.
    const { port } = served as Served;
    const answer = await stalled(port, { "grpc-timeout": "300m" });
    expect(answer).toBe(8);
    await dialled.close();
  });

  it("bounds what waits for a connection that does not come", async () => {
    const waiting = grpcChannel([{ host: "127.0.0.1", port: 1, authority: "nowhere" }], { connectMs: 60_000 });
    const call = waiting.call("/t.T/M");
    const room: (Promise<void> | undefined)[] = [];
    for (let at = 0; at < 8; at++) room.push(call.send(new Uint8Array(CHUNK)));
    expect(room[0]).toBeUndefined();
    expect(room.at(-1)).toBeInstanceOf(Promise);
    await waiting.close();
    await expect(room.at(-1)).rejects.toMatchObject({ code: "unavailable" });
  });
});

/** A request whose answer is not read; resolves with the code of the reset. */
async function stalled(port: number, headers: Record<string, string>): Promise<number> {
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":method": "POST", ":path": "/t.T/M", te: "trailers", "content-type": "application/grpc", ...headers });
  stream.on("error", () => {});
  stream.end();
  await once(stream, "close");
  session.destroy();
  return stream.rstCode;
}
