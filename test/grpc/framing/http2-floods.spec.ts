import { describe, expect, it, vi } from "vitest";
import type { ClientCall } from "../../../src/io/index.js";
import { HEADERS, PING, RST_STREAM } from "./raw.js";
import { ask, begin, data, finish, frame, type RawPeer, say, serveFrom, setting, texts, WINDOW_UPDATE, words } from "./raw-server.js";
import { stage } from "./stage.js";

const FIRST_WINDOW = 4;
const MOST = 64 << 20;

const raw = stage();
const { start, first } = raw;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Sends as fast as there is room until the client has closed; gives the growth of memory. */
async function flood(peer: RawPeer, bytes: Buffer): Promise<number> {
  const before = process.memoryUsage().rss;
  let most = 0;
  let open = true;
  peer.socket.on("close", () => {
    open = false;
  });
  for (let at = 0; at < 20_000 && open; at++) {
    if (!peer.socket.write(bytes)) {
      await Promise.race([
        peer.left,
        new Promise((resolve) => peer.socket.once("drain", resolve)),
        new Promise((r) => setTimeout(r, 1000)),
      ]);
    } else await turn();
    most = Math.max(most, process.memoryUsage().rss - before);
  }
  await peer.left;
  return most;
}

describe("a flood of questions", () => {
  it.each([
    ["PINGs", frame(PING, 0, 0, words(1, 2))],
    ["SETTINGS", setting([FIRST_WINDOW, 1000])],
  ])("of %s by a server that reads no answers ends the connection", async (_, question) => {
    let grown = 0;
    const dialled = await start(async (peer) => {
      if (peer.number > 0) return serveFrom(peer, 0);
      await peer.request(0);
      peer.socket.pause();
      grown = await flood(peer, Buffer.concat(Array.from({ length: 1000 }, () => question)));
    });
    expect(await ask(dialled).status).toMatchObject({ code: 14 });
    await vi.waitFor(async () => expect(await texts(ask(dialled))).toEqual(["good"]), { timeout: 20_000 });
    expect(grown).toBeLessThan(MOST);
  });

  it("is answered for a server that reads, also while the line is never free", async () => {
    const dialled = await start(() => {}, { hello: setting([FIRST_WINDOW, 2 ** 31 - 1]) });
    const call = dialled.call("/t.T/M");
    let going = true;
    const sending = (async () => {
      while (going) await call.send(new Uint8Array(256 * 1024));
    })();
    const peer = await first();
    peer.send(frame(WINDOW_UPDATE, 0, 0, words(2 ** 31 - 1 - 65_535)));
    const pings = Buffer.concat(Array.from({ length: 100 }, () => frame(PING, 0, 0, words(1, 2))));
    const answered = (): number => peer.heard.filter(({ type, flags }) => type === PING && flags === 1).length;
    for (let at = 1; at <= 60; at++) {
      peer.send(pings);
      await vi.waitFor(() => expect(answered()).toBe(at * 100), { interval: 1, timeout: 10_000 });
    }
    going = false;
    await sending;
    call.cancel();
    expect(raw.server.peers.length).toBe(1);
  });
});

describe("a server that takes nothing", () => {
  it("off the line: what waits for it is bounded, in bytes and in calls", async () => {
    const dialled = await start(() => {}, {
      reads: 200,
      hello: Buffer.concat([setting([FIRST_WINDOW, 2 ** 31 - 1]), frame(WINDOW_UPDATE, 0, 0, words(2 ** 30))]),
    });
    const upload = dialled.call("/t.T/M");
    let sent = 0;
    for (;;) {
      const room = upload.send(new Uint8Array(64 * 1024));
      sent += 64 * 1024;
      if (room === undefined) continue;
      room.catch(() => {});
      if (await Promise.race([room.then(() => false), new Promise((resolve) => setTimeout(resolve, 500, true))])) break;
    }
    expect(upload.backlog).toBeLessThan(1 << 20);
    expect(sent).toBeLessThan(64 << 20);
    const before = process.memoryUsage().rss;
    const metadata = { "x-large": "v".repeat(4000) };
    for (let at = 0; at < 20_000; at++) {
      const call = dialled.call("/t.T/M", { metadata });
      call.done();
      if (at % 100 === 99) await turn();
      call.cancel();
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(MOST);
    upload.cancel();
  });

  it("of one call: the others do not notice", async () => {
    const dialled = await start(async (peer) => {
      peer.send(frame(WINDOW_UPDATE, 0, 0, words(2 ** 30)));
      await peer.request(0);
      await serveFrom(peer, 1);
    });
    const upload = dialled.call("/t.T/M");
    const room = upload.send(new Uint8Array(1 << 20));
    room?.catch(() => {});
    for (let at = 0; at < 3; at++) expect(await texts(ask(dialled))).toEqual(["good"]);
    expect((await first()).received).toBeGreaterThanOrEqual(65_535);
    upload.cancel();
  });

  it("for a while, again and again: nothing of what was sent is kept", async () => {
    const total = 256 << 20;
    const dialled = await start(() => {}, { hello: setting([FIRST_WINDOW, 300_000]) });
    const call = dialled.call("/t.T/M");
    const peer = await first();
    let granted = 0;
    // Always less than waits to be sent, so that the stream never runs dry.
    const granting = setInterval(() => {
      if (peer.received < granted) return;
      const more = 250_000;
      granted = peer.received + more / 2;
      peer.send(frame(WINDOW_UPDATE, 0, 0, words(more)), frame(WINDOW_UPDATE, 0, 1, words(more)));
    }, 0);
    const before = process.memoryUsage();
    for (let sent = 0; sent < total; sent += 64 * 1024) {
      await call.send(new Uint8Array(64 * 1024));
    }
    const after = process.memoryUsage();
    clearInterval(granting);
    call.cancel();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(MOST);
  }, 60_000);
});

describe("thousands of resets", () => {
  it("cost those calls alone", async () => {
    const dialled = await start(async (peer) => {
      let at = 0;
      let resets = 0;
      while (resets < 5000) {
        for (; at < peer.heard.length; at++) {
          const { type, id } = peer.heard[at] as { type: number; id: number };
          if (type !== HEADERS) continue;
          peer.send(begin(id), say(id, "x"), frame(RST_STREAM, 0, id, words(8)));
          resets++;
        }
        await turn();
      }
      await serveFrom(peer, 5000);
    });
    for (let round = 0; round < 50; round++) {
      const calls: ClientCall[] = Array.from({ length: 100 }, () => ask(dialled));
      for (const call of calls) expect((await call.status).code).toBe(1);
    }
    expect(await texts(ask(dialled))).toEqual(["good"]);
    expect(raw.server.peers.length).toBe(1);
  });

  it("by the client leave nothing behind, though the answers come late", async () => {
    const dialled = await start(async (peer) => {
      for (let at = 0; !peer.socket.destroyed; at++) {
        const id = await peer.request(at);
        peer.send(begin(id), say(id, "x".repeat(10_000)), finish(id));
      }
    });
    for (let at = 0; at < 1000; at++) {
      const call = ask(dialled);
      if (at % 3 === 0) await turn();
      call.cancel();
    }
    expect((await texts(ask(dialled)))[0]?.length).toBe(10_000);
    const peer = await first();
    expect(peer.heard.filter(({ type }) => type === RST_STREAM).length).toBeGreaterThan(100);
    // It would wait for streams that it took for open.
    await dialled.close();
    expect(await peer.left).toBe(0);
  });
});

describe("messages that nobody reads", () => {
  it("hold their stream up though they have no bytes, and come in batches of some", async () => {
    const count = 900_000;
    const dialled = await start(async (peer) => {
      const id = await peer.request(0);
      // No bytes and no flags: each is five zeros.
      peer.send(begin(id), ...Array.from({ length: count / 3000 }, () => data(id, new Uint8Array(15_000))), frame(PING, 0, 0, words(1, 2)));
    });
    const call = ask(dialled);
    const peer = await first();
    // The first makes the window of the call as wide as that of the connection.
    const opened = (): number => peer.heard.filter(({ type, id }) => type === WINDOW_UPDATE && id === 1).length - 1;
    await vi.waitFor(() => expect(peer.heard.some(({ type, flags }) => type === PING && flags === 1)).toBe(true), { timeout: 20_000 });
    expect(opened()).toBe(0);
    let got = 0;
    let most = 0;
    for await (const batch of call.messages) {
      got += batch.length;
      most = Math.max(most, batch.length);
      if (got === count) peer.send(finish(1));
    }
    expect(got).toBe(count);
    await vi.waitFor(() => expect(opened()).toBe(1));
    expect(most).toBeLessThan(10_000);
  }, 30_000);
});
