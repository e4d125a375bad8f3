import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  HEADERS,
  numbers,
  RST_STREAM,
  readUint32,
  settings,
  WINDOW_UPDATE,
} from "../../../src/io/http2/frames.js";
import { HpackDecoder } from "../../../src/io/http2/hpack/index.js";
import { encoder, hello, Line, listen, open, request, turn, WINDOW } from "./line.js";

describe("a session", () => {
  it("gives the same events wherever the bytes are cut", () => {
    const step = fc.record({ stream: fc.integer({ min: 0, max: 2 }), bytes: fc.uint8Array({ maxLength: 200 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (steps, cuts) => {
        const pack = encoder();
        const frames = [hello, ...[1, 3, 5].map((id) => frame(HEADERS, END_HEADERS, id, pack([":status", "200", "x-id", String(id)])))];
        for (const { stream, bytes } of steps) frames.push(frame(DATA, 0, stream * 2 + 1, bytes));
        for (const id of [5, 1, 3]) frames.push(frame(HEADERS, END_HEADERS | END_STREAM, id, pack(["grpc-status", "0"])));
        const whole = run(frames, [Number.POSITIVE_INFINITY]);
        expect(run(frames, cuts)).toEqual(whole);
        expect(whole.filter((each) => each.endsWith("close 0")).length).toBe(3);
      }),
      { numRuns: 100 },
    );

    function run(frames: readonly Uint8Array[], cuts: readonly number[]): string[] {
      const { session, say, log, line } = open();
      for (const name of "abc") session.request(request, listen(name, log)).end();
      const bytes = Buffer.concat(frames);
      for (let at = 0, round = 0; at < bytes.length; round++) {
        const to = Math.min(bytes.length, at + (cuts[round % cuts.length] as number));
        say(bytes.subarray(at, to));
        at = to;
      }
      line.destroy();
      return log;
    }
  });

  it("resets a stream that goes on after its end, and no other", async () => {
    for (const late of [frame(DATA, 0, 1, Buffer.from("x")), frame(HEADERS, END_HEADERS | END_STREAM, 1, encoder()(["a", "b"]))]) {
      const { session, say, log, line } = open();
      session.request(request, listen("a", log));
      session.request(request, listen("b", log));
      say(hello, frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.of(0x88)), late);
      await turn();
      expect(log).toEqual(["ready", "a 200", "a end", expect.stringMatching(/^a close 5 the server sent (data|headers) after the end/)]);
      expect(
        line
          .frames()
          .filter(({ type }) => type === RST_STREAM)
          .map(({ id, payload }) => [id, readUint32(payload, 0)]),
      ).toEqual([[1, 5]]);
      session.destroy();
    }
  });

  it("pays for all that comes, on streams that are gone as well", async () => {
    const { session, say, log, line } = open();
    const stream = session.request(request, listen("a", log));
    say(hello, frame(HEADERS, END_HEADERS, 1, Buffer.of(0x88)), frame(DATA, 0, 1, new Uint8Array(1000)));
    stream.destroy();
    for (let at = 0; at < 8; at++) say(frame(DATA, 0, 1, new Uint8Array(16_000)));
    await turn();
    const credit = line.frames().filter(({ type }) => type === WINDOW_UPDATE);
    expect(credit.every(({ id }) => id === 0)).toBe(true);
    expect(credit.reduce((sum, { payload }) => sum + readUint32(payload, 0), 0)).toBeGreaterThan(129_000 - WINDOW / 2);
    session.destroy();
  });

  it("opens the window of a reader that paused when it goes on, and not before", async () => {
    const { session, say, log, line } = open();
    const stream = session.request(request, listen("a", log));
    stream.pause();
    say(hello, frame(HEADERS, END_HEADERS, 1, Buffer.of(0x88)));
    for (let at = 0; at < 4; at++) say(frame(DATA, 0, 1, new Uint8Array(16_384)));
    await turn();
    const credit = (): number[] =>
      line
        .frames()
        .filter(({ type, id }) => type === WINDOW_UPDATE && id === 1)
        .map(({ payload }) => readUint32(payload, 0));
    expect(credit()).toEqual([]);
    stream.resume();
    await turn();
    expect(credit()).toEqual([65_536]);
    stream.pause();
    for (let at = 0; at < 4; at++) say(frame(DATA, 0, 1, new Uint8Array(16_384)));
    say(frame(DATA, 0, 1, Buffer.of(1)));
    expect(log.at(-1)).toBe("a close 3 the server sent more than it may");
    session.destroy();
  });

  it("sends on when a socket with room for much has taken it", async () => {
    const line = new Line({ writableHighWaterMark: 4 << 20 });
    const { session, say, log } = open(line);
    say(settings([[4, 2 ** 31 - 1]]), numbers(WINDOW_UPDATE, 0, 2 ** 30));
    await turn();
    line.hold = true;
    const stream = session.request(request, listen("a", log));
    let told = 0;
    for (let at = 0; at < 100; at++) stream.write(new Uint8Array(100_000), () => told++);
    stream.end();
    await turn();
    expect(told).toBeLessThan(100);
    line.go();
    await turn();
    expect(told).toBe(100);
    const data = line.frames().filter(({ type }) => type === DATA);
    expect(data.reduce((sum, { payload }) => sum + payload.length, 0)).toBe(10_000_000);
    expect(data.at(-1)?.flags).toBe(END_STREAM);
    session.destroy();
  });

  it("lets what it calls write, end and leave while it sends", async () => {
    const { session, say, log, line } = open();
    say(hello);
    const stream = session.request(request, listen("a", log));
    stream.write(Buffer.from("one"), () => {
      stream.write(Buffer.from("two"), () => stream.end(Buffer.from("three")));
      const other = session.request(request, listen("b", log));
      other.write(new Uint8Array(5000), () => other.destroy());
    });
    stream.write(Buffer.from("four"));
    await turn();
    const texts = line.frames().filter(({ type, id }) => type === DATA && id === 1);
    expect(Buffer.concat(texts.map(({ payload }) => payload)).toString()).toBe("onefourtwothree");
    expect(texts.at(-1)?.flags).toBe(END_STREAM);
    expect(line.frames().map(({ type, id }) => [type, id])).toContainEqual([RST_STREAM, 3]);
    expect(log).toEqual(["ready", "b close 8"]);
    session.destroy();
  });

  it("sends headers in the order of their numbers, whole, also those that waited", async () => {
    const { session, say, log, line } = open();
    say(settings([[3, 2]]));
    const long = [...request, "x-long", "v".repeat(40_000)];
    const streams = Array.from({ length: 6 }, (_, at) => session.request([...long, "x-at", String(at)], listen(String(at), log)));
    streams[3]?.destroy();
    for (const stream of streams) stream.end(Buffer.from("x"));
    await turn();
    for (const id of [3, 1, 5, 7, 9]) {
      say(frame(HEADERS, END_HEADERS | END_STREAM, id, Buffer.of(0x88)));
      await turn();
    }
    const decoder = new HpackDecoder({ tableBytes: 4096, listBytes: 100_000 });
    const order: string[] = [];
    let block: Buffer[] = [];
    for (const { type, id, flags, payload } of line.frames()) {
      if (block.length > 0) expect(type).toBe(9);
      if (type !== HEADERS && type !== 9) continue;
      block.push(payload);
      if ((flags & END_HEADERS) === 0) continue;
      order.push(`${id} ${decoder.decode(Buffer.concat(block)).at(-1)}`);
      block = [];
    }
    expect(order).toEqual(["1 0", "3 1", "5 2", "7 4", "9 5"]);
    session.destroy();
  });
});
