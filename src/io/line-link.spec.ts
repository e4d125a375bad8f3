import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import { Fault } from "../core/index.js";
import { type LineLink, lineLink } from "./line-link.js";

const ask = (id: number, text = "") => ({ jsonrpc: "2.0", id, method: "echo", params: { text } }) as const;

/** A busy machine is no failure. */
const patience = { timeout: 20_000 };

/** The two ends of a real socket. */
let serial = 0;
const opened: Socket[] = [];
async function ends(): Promise<[Socket, Socket]> {
  const server = createServer().listen(join(tmpdir(), `anywire-${process.pid}-${serial++}.sock`));
  await once(server, "listening");
  const near = connect(server.address() as string);
  const [far] = (await once(server, "connection")) as [Socket];
  server.close();
  opened.push(near, far);
  return [near, far];
}
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});

async function collect(link: LineLink, into: unknown[]): Promise<void> {
  for await (const batch of link.incoming) into.push(...batch);
}

test("messages cross a socket in order, both ways, and the end of one side ends the other's reading", async () => {
  const [near, far] = await ends();
  const a = lineLink(near, near);
  const b = lineLink(far, far);
  const seen: unknown[] = [];
  const reading = collect(b, seen);
  for (let id = 0; id < 5000; id++) await a.send(ask(id, "x".repeat(id % 300)));
  await a.close();
  await reading;
  expect(seen.map((message) => (message as { id: number }).id)).toEqual(Array.from({ length: 5000 }, (_, id) => id));
  await b.close();
});

function recorder(writes: string[]): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      writes.push(chunk);
      done();
    },
  });
}

test("many messages of one tick leave before it is over, a few of them in each write", () => {
  const writes: string[] = [];
  const link = lineLink(new PassThrough(), recorder(writes));
  for (let id = 0; id < 64; id++) void link.send(ask(id, "x".repeat(200)));
  expect(writes.length).toBeGreaterThan(3);
  expect(writes.length).toBeLessThan(16);
});

test("the small messages of one tick leave in one write", async () => {
  const writes: string[] = [];
  const link = lineLink(new PassThrough(), recorder(writes));
  for (let id = 0; id < 10; id++) void link.send(ask(id));
  await vi.waitFor(() => expect(writes).toHaveLength(1), patience);
  expect(writes[0]?.split("\n")).toHaveLength(11);
  await link.close();
});

test("send waits above the high-water mark, and all who wait go on in order when the peer reads", async () => {
  const [near, far] = await ends();
  const link = lineLink(near, near, { highWater: 64 * 1024 });
  const order: number[] = [];
  const sends = Array.from({ length: 100 }, (_, id) => link.send(ask(id, "x".repeat(10_000))).then(() => order.push(id)));
  await vi.waitFor(() => expect(order.length).toBeGreaterThan(0), patience);
  expect(order.length).toBeLessThan(10);
  expect(link.backlog).toBeGreaterThan(64 * 1024);
  far.resume();
  await Promise.all(sends);
  expect(order).toEqual(Array.from({ length: 100 }, (_, id) => id));
  await link.close();
  expect(link.backlog).toBe(0);
});

test("close writes what was taken first, and then every send is refused with the reason", async () => {
  const [near, far] = await ends();
  const link = lineLink(near, near);
  let received = "";
  far.on("data", (chunk: Buffer) => {
    received += chunk;
  });
  void link.send(ask(1));
  const reason = new Fault("cancelled", "enough");
  const ended = once(far, "end");
  const closing = link.close(reason);
  await expect(link.send(ask(2))).rejects.toBe(reason);
  await closing;
  await ended;
  expect(received).toBe(`${JSON.stringify(ask(1))}\n`);
});

test("close ends a pending read, with its reason if it has one", async () => {
  const [near, far] = await ends();
  const a = lineLink(near, near);
  const b = lineLink(far, far);
  const reason = new Fault("cancelled", "enough");
  const first = a.incoming[Symbol.asyncIterator]().next();
  const second = b.incoming[Symbol.asyncIterator]();
  const pending = second.next();
  await Promise.all([a.close(), b.close(reason)]);
  expect(await first).toEqual({ done: true, value: undefined });
  await expect(pending).rejects.toBe(reason);
  expect(await second.next()).toEqual({ done: true, value: undefined });
});

test("leaving the loop ends a next() that waits", async () => {
  const [near] = await ends();
  const link = lineLink(near, near);
  const iterator = link.incoming[Symbol.asyncIterator]();
  const pending = iterator.next();
  await expect(iterator.next()).rejects.toMatchObject({ code: "internal" });
  await iterator.return?.();
  expect(await pending).toEqual({ done: true, value: undefined });
  await link.close();
});

test("a peer that has closed its side can still be answered", async () => {
  const server = createServer({ allowHalfOpen: true }).listen(join(tmpdir(), `anywire-${process.pid}-${serial++}.sock`));
  await once(server, "listening");
  const near = connect({ path: server.address() as string, allowHalfOpen: true });
  const [far] = (await once(server, "connection")) as [Socket];
  server.close();
  opened.push(near, far);
  const link = lineLink(far, far);
  near.end(`${JSON.stringify(ask(1))}\n{"half`);
  const seen: unknown[] = [];
  await collect(link, seen);
  expect(seen).toMatchObject([
    { kind: "request", id: 1 },
    { kind: "bad", fault: { code: "parse" } },
  ]);
  let received = "";
  near.on("data", (chunk: Buffer) => {
    received += chunk;
  });
  await link.send({ jsonrpc: "2.0", id: 1, result: {} });
  await link.close();
  await vi.waitFor(() => expect(received).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n'), patience);
});

test("a peer that went away breaks the link", async () => {
  const [near, far] = await ends();
  const link = lineLink(near, near);
  const reading = collect(link, []);
  far.destroy();
  await reading.catch((fault: unknown) => expect(fault).toMatchObject({ code: "unavailable" }));
  await expect(
    (async () => {
      for (;;) {
        await link.send(ask(1));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })(),
  ).rejects.toMatchObject({ code: "unavailable", data: { reason: "broken-pipe" } });
  await link.close();
});

test("a line over the limit is a bad message, and those after it are read", async () => {
  const readable = new PassThrough();
  const link = lineLink(readable, new PassThrough(), { messageBytes: 100 });
  const seen: unknown[] = [];
  readable.end(`{"jsonrpc":"2.0","id":3,"result":{"text":"${"x".repeat(100)}"}}\n${JSON.stringify(ask(1))}\n`);
  await collect(link, seen);
  expect(seen).toMatchObject([
    { kind: "bad", answers: 3, fault: { code: "overload" } },
    { kind: "request", id: 1 },
  ]);
});

test("finish gives out what has come, then throws, even if the stream stays open", async () => {
  const readable = new PassThrough();
  const link = lineLink(readable, new PassThrough());
  readable.write(`${JSON.stringify(ask(1))}\n${JSON.stringify(ask(2))}\n`);
  const seen: unknown[] = [];
  link.finish(new Fault("unavailable", "gone"));
  await expect(link.send(ask(3))).rejects.toThrow("gone");
  await expect(collect(link, seen)).rejects.toThrow("gone");
  expect(seen).toHaveLength(2);
  await link.close();
});

test("a closed link leaves no listener of its own that could be called", async () => {
  const readable = new PassThrough();
  const writable = new PassThrough();
  const counts = () => [...readable.eventNames(), ...writable.eventNames()].filter((name) => name !== "error").length;
  const before = counts();
  const link = lineLink(readable, writable, { onClose: () => {} });
  expect(counts()).toBeGreaterThan(before);
  await link.close();
  expect(counts()).toBe(before);
});

test("a peer that prints without an end what is not a message leaves timers and signals their turn", async () => {
  const chunk = Buffer.from("y\n".repeat(2000));
  let left = 20;
  const link = lineLink(
    new Readable({
      // The default of Node 22 and later would read most of it ahead.
      highWaterMark: 16 * 1024,
      read: function () {
        this.push(left-- > 0 ? chunk : null);
      },
    }),
    recorder([]),
  );
  let fired = -1;
  setTimeout(() => {
    fired = left;
  }, 0);
  const sizes: number[] = [];
  for await (const batch of link.incoming) sizes.push(batch.length);
  expect(fired).toBeGreaterThan(5);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(40_000);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1024);
});

test("a link leaves the turn to others after a while, however much has come and however slow its reader is", async () => {
  const readable = new PassThrough({ highWaterMark: 64 * 1024 * 1024 });
  const link = lineLink(readable, recorder([]));
  readable.end(`${JSON.stringify(ask(1))}\n`.repeat(5000));
  let turns = 0;
  let counting = true;
  const count = (): void => {
    turns++;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  let batches = 0;
  for await (const _batch of link.incoming) {
    batches++;
    for (const begun = performance.now(); performance.now() - begun < 2; );
  }
  counting = false;
  expect(batches).toBeGreaterThan(20);
  expect(turns).toBeGreaterThan(batches / 10);
  await link.close();
});
