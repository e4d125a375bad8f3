import { describe, expect, it, vi } from "vitest";
import { NARROW, WINDOW } from "../../../src/io/http2/bounds.js";
import { CONTINUATION, END_HEADERS, HEADERS, hpack, RST_STREAM } from "./raw.js";
import {
  answer,
  ask,
  begin,
  both,
  data,
  finish,
  frame,
  GOAWAY,
  head,
  headers,
  say,
  serveFrom,
  setting,
  texts,
  WINDOW_UPDATE,
  words,
} from "./raw-server.js";
import { stage } from "./stage.js";
import { collect, frame as message } from "./support.js";

const PRIORITY = 2;
const PADDED = 8;
const PRIORITISED = 0x20;
const CONCURRENT = 3;
const FIRST_WINDOW = 4;

const raw = stage();
const { start, first } = raw;

type Odd = (id: number) => Buffer;

describe("what is unusual and allowed", () => {
  const cases: [string, Odd][] = [
    [
      "frames, settings and flags that are unknown",
      (id) => both(frame(77, 255, id, words(1)), frame(200, 0, 0), setting([99, 7]), answer(id, "x")),
    ],
    [
      "a priority, also of a stream that there is not",
      (id) => both(frame(PRIORITY, 0, id, Buffer.alloc(5)), frame(PRIORITY, 0, 99, Buffer.alloc(5)), answer(id, "x")),
    ],
    [
      "padding everywhere, and a priority in the headers",
      (id) =>
        both(
          frame(HEADERS, END_HEADERS | PADDED | PRIORITISED, id, both(Buffer.of(3), Buffer.alloc(5), hpack(head), Buffer.alloc(3))),
          data(id, Buffer.of(0), PADDED),
          data(id, both(Buffer.of(2), message(Buffer.from("x")), Buffer.alloc(2)), PADDED),
          data(id, Buffer.alloc(201, 200).fill(0, 1), PADDED),
          finish(id),
        ),
    ],
    [
      "answers that are to be followed by another",
      (id) =>
        both(
          headers(id, [[":status", "100"]]),
          headers(id, [
            [":status", "103"],
            ["link", "x"],
          ]),
          answer(id, "x"),
        ),
    ],
    [
      "headers in pieces",
      (id) =>
        both(
          ...[...hpack(head)].map((octet, at, all) =>
            frame(at === 0 ? HEADERS : CONTINUATION, at === all.length - 1 ? 4 : 0, id, Buffer.of(octet)),
          ),
          say(id, "x"),
          finish(id),
        ),
    ],
    ["empty data", (id) => both(begin(id), ...Array.from({ length: 1000 }, () => data(id, Buffer.of())), say(id, "x"), finish(id))],
    ["a reset in peace after the end", (id) => both(answer(id, "x"), frame(RST_STREAM, 0, id, words(0)))],
    ["a goodbye after the end", (id) => both(answer(id, "x"), frame(GOAWAY, 0, 0, words(id, 0)))],
    [
      "frames of a stream that is over",
      (id) => both(answer(id, "x"), say(id, "y"), finish(id), frame(WINDOW_UPDATE, 0, id, words(5)), frame(RST_STREAM, 0, id, words(2))),
    ],
    ["a bit that is reserved", (id) => both(begin(id), data((id | 0x80000000) >>> 0, message(Buffer.from("x"))), finish(id))],
  ];
  it.each(cases)("%s", async (_, odd) => {
    const dialled = await start(async (peer) => {
      const first = await peer.request(0);
      peer.send(odd(first));
      await serveFrom(peer, 1);
    });
    const call = ask(dialled);
    expect(await texts(call)).toEqual(["x"]);
    expect(await call.status).toMatchObject({ code: 0 });
  });

  it("one octet at a time", async () => {
    const dialled = await start(async (peer) => {
      peer.socket.setNoDelay(true);
      const first = await peer.request(0);
      for (const octet of answer(first, "slow")) {
        peer.socket.write(Buffer.of(octet));
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    expect(await texts(ask(dialled))).toEqual(["slow"]);
  });

  it("the end of the connection right behind the last answer", async () => {
    const dialled = await start(async (peer) => {
      const ids = [await peer.request(0), await peer.request(1)] as const;
      peer.socket.end(both(answer(ids[0], "a"), answer(ids[1], "b")));
    });
    const calls = [ask(dialled), ask(dialled)] as const;
    expect(await Promise.all(calls.map(texts))).toEqual([["a"], ["b"]]);
    await raw.server.peers[0]?.left;
    expect(dialled.state).not.toBe("ready");
  });

  it("a status alone, whose stream is reset in peace and never ended", async () => {
    const dialled = await start(async (peer) => {
      const id = await peer.request(0);
      peer.send(headers(id, [...head, ["grpc-status", "5"], ["grpc-message", "gone"]]), frame(RST_STREAM, 0, id, words(0)));
    });
    expect(await ask(dialled).status).toMatchObject({ code: 5, message: "gone" });
  });
});

describe("a server far away", () => {
  it("that has used up the window is given nearly all of it again, whatever the length of its frames", async () => {
    const dialled = await start(() => {});
    const call = ask(dialled);
    const peer = await first();
    const id = await peer.request(0);
    const some = data(id, message(new Uint8Array(16_000)));
    const count = Math.floor(WINDOW / 16_005);
    peer.send(begin(id), ...Array.from({ length: count }, () => some));
    let got = 0;
    for await (const batch of call.messages) {
      got += batch.length;
      if (got === count) break;
    }
    const credit = (of: number): number =>
      peer.heard.reduce((sum, { type, id: on, payload }) => (type === WINDOW_UPDATE && on === of ? sum + payload.readUInt32BE(0) : sum), 0);
    // The first update of each opens the window itself.
    await vi.waitFor(() => expect(credit(0) - (WINDOW - 65_535)).toBeGreaterThan(0.8 * WINDOW));
    expect(credit(id) - (WINDOW - NARROW)).toBeGreaterThan(0.8 * WINDOW);
  });
});

describe("a server that leaves", () => {
  it("twice, and has not seen the last calls after all", async () => {
    const dialled = await start(async (peer) => {
      if (peer.number > 0) return serveFrom(peer, 0);
      for (let at = 0; at < 3; at++) await peer.request(at);
      peer.send(frame(GOAWAY, 0, 0, words(2 ** 31 - 1, 0)));
      peer.send(frame(GOAWAY, 0, 0, words(1, 0)));
      peer.send(answer(1, "old"));
    });
    const calls = [ask(dialled), ask(dialled), ask(dialled)];
    expect(await Promise.all(calls.map(texts))).toEqual([["old"], ["good"], ["good"]]);
    expect(raw.server.peers.length).toBe(2);
    // Its last call has ended, so the connection is closed, and politely.
    expect(await raw.server.peers[0]?.left).toBe(0);
  });

  it("while calls wait for their turn", async () => {
    const dialled = await start(
      async (peer) => {
        if (peer.number > 0) return serveFrom(peer, 0);
        await peer.request(0);
        peer.send(frame(GOAWAY, 0, 0, words(1, 0)), answer(1, "old"));
      },
      { hello: setting([CONCURRENT, 1]), maxConnections: 1 },
    );
    const calls = [ask(dialled), ask(dialled), ask(dialled)];
    expect(await Promise.all(calls.map(texts))).toEqual([["old"], ["good"], ["good"]]);
  });

  it("after every call, however many there are", async () => {
    const dialled = await start(async (peer) => {
      await peer.request(0);
      peer.send(frame(GOAWAY, 0, 0, words(1, 0)), answer(1, `by ${peer.number}`));
    });
    const calls = Array.from({ length: 12 }, () => ask(dialled));
    expect((await Promise.all(calls.map(texts))).flat().sort()).toEqual(calls.map((_, at) => `by ${at}`).sort());
  });

  it("before any call, again and again: that is given up", async () => {
    const dialled = await start(async (peer) => {
      await peer.request(0);
      peer.send(frame(GOAWAY, 0, 0, words(0, 0)));
    });
    expect(await ask(dialled).status).toMatchObject({ code: 14, message: "no server took the call" });
    expect(raw.server.peers.length).toBe(3);
  });

  it("and never closes the connection, which is closed then", async () => {
    const dialled = await start(
      async (peer) => {
        if (peer.number > 0) return;
        await peer.request(0);
        peer.send(frame(GOAWAY, 0, 0, words(1, 0)), answer(1, "last"));
      },
      { lingers: true },
    );
    expect(await texts(ask(dialled))).toEqual(["last"]);
    const peer = await first();
    // Whoever writes to a client that is gone hears of it; what it writes here means nothing.
    await vi.waitFor(
      () => {
        peer.socket.write(frame(99, 0, 0));
        expect(peer.socket.destroyed).toBe(true);
      },
      { timeout: 20_000 },
    );
  });

  it("by the end of the connection alone: a call that follows at once is served, also with one connection", async () => {
    const dialled = await start(
      async (peer) => {
        if (peer.number > 0) return serveFrom(peer, 0);
        await peer.request(0);
        peer.socket.end();
      },
      { maxConnections: 1 },
    );
    expect(await ask(dialled).status).toMatchObject({ code: 14 });
    expect(await texts(ask(dialled))).toEqual(["good"]);
  });
});

describe("a server that changes its mind", () => {
  it("takes no calls, then some", async () => {
    const dialled = await start(() => {}, { hello: setting([CONCURRENT, 1]), maxConnections: 1 });
    const calls = Array.from({ length: 4 }, () => ask(dialled));
    const peer = await first();
    await peer.request(0);
    peer.send(setting([CONCURRENT, 0]), answer(1, "a"));
    expect(await texts(calls[0] as never)).toEqual(["a"]);
    expect(peer.heard.filter(({ type }) => type === HEADERS).length).toBe(1);
    peer.send(setting([CONCURRENT, 2]));
    await peer.request(2);
    expect(peer.heard.filter(({ type }) => type === HEADERS).length).toBe(3);
    peer.send(answer(5, "c"));
    await peer.request(3);
    peer.send(answer(3, "b"), answer(7, "d"));
    expect(await Promise.all(calls.slice(1).map(texts))).toEqual([["b"], ["c"], ["d"]]);
  });

  it("and makes the windows smaller than what was sent: an end still comes, and data after it has room again", async () => {
    const dialled = await start(() => {});
    const [ending, sending] = [dialled.call("/t.T/M"), dialled.call("/t.T/M")];
    ending.send(new Uint8Array(1000));
    sending.send(new Uint8Array(1000));
    const peer = await first();
    await vi.waitFor(() => expect(peer.received).toBe(2010));
    peer.send(setting([FIRST_WINDOW, 0]));
    await vi.waitFor(() => expect(peer.heard.filter(({ type, flags }) => type === 4 && flags === 1).length).toBe(2));
    ending.done();
    sending.send(new Uint8Array(500));
    sending.done();
    await vi.waitFor(() => expect([...peer.ended]).toEqual([1]));
    expect(peer.received).toBe(2010);
    peer.send(frame(WINDOW_UPDATE, 0, 3, words(1005)));
    peer.send(frame(WINDOW_UPDATE, 0, 3, words(505)));
    await vi.waitFor(() => expect([...peer.ended]).toEqual([1, 3]));
    expect(peer.received).toBe(2515);
    peer.send(answer(1, "a"), answer(3, "b"));
    expect([await texts(ending), await texts(sending)]).toEqual([["a"], ["b"]]);
  });

  it("and has no window left for all: ends come all the same", async () => {
    const dialled = await start(() => {}, { hello: setting([FIRST_WINDOW, 1 << 20]) });
    const [large, bare] = [dialled.call("/t.T/M"), dialled.call("/t.T/M")];
    large.send(new Uint8Array(100_000));
    const peer = await first();
    await vi.waitFor(() => expect(peer.received).toBe(65_535));
    bare.done();
    await vi.waitFor(() => expect([...peer.ended]).toEqual([3]));
    peer.send(frame(WINDOW_UPDATE, 0, 0, words(50_000)));
    await vi.waitFor(() => expect(peer.received).toBe(100_005));
    peer.send(answer(1, "a"), answer(3, "b"));
    expect([await texts(large), await texts(bare)]).toEqual([["a"], ["b"]]);
  });

  it("and ends without a status before the client does", async () => {
    const dialled = await start(async (peer) => {
      const id = await peer.request(0);
      peer.send(begin(id), data(id, message(Buffer.from("x")), 1));
    });
    const call = dialled.call("/t.T/M");
    expect(await call.status).toMatchObject({ code: 2 });
    expect((await collect(call)).messages.map(String)).toEqual(["x"]);
    expect(await (await first()).reset(1)).toBe(8);
  });
});
