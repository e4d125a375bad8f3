import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { defaultLimits, heldBytes, type Limits } from "../../core/index.js";
import type { Exchange } from "../http/exchange.js";
import { CONCURRENT, WINDOW } from "./bounds.js";
import { Http2FrameReader } from "./frame-reader.js";
import {
  ACK,
  CANCEL,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  FRAME_BYTES,
  frame,
  GOAWAY,
  HEADERS,
  INITIAL_WINDOW_SIZE,
  LARGEST_WINDOW,
  MAX_FRAME_SIZE,
  numbers,
  PING,
  PREFACE,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  settings,
  WINDOW_UPDATE,
} from "./frames.js";
import { HpackDecoder, HpackEncoder } from "./hpack/index.js";
import { http2Server } from "./server.js";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
});

const post: readonly string[] = [":method", "POST", ":scheme", "http", ":path", "/mcp?a=1", ":authority", "here"];
const without = (name: string): string[] => post.filter((_, at) => post[at - (at % 2)] !== name);

/** A client that speaks HTTP/2 by hand, in front of a server that answers with `take`. */
function peer(take: (exchange: Exchange) => void, limits?: Partial<Limits>, bodyMs = 60_000) {
  const input = new PassThrough();
  const output = new PassThrough();
  const heard: string[] = [];
  const lengths: number[] = [];
  const decoder = new HpackDecoder({ tableBytes: 4096, listBytes: 1e6 });
  let data = "";
  const reader = new Http2FrameReader(
    {
      onDataFrame: (_id, length) => void lengths.push(length),
      onDataBytes: (bytes) => {
        data += Buffer.from(bytes).toString("latin1");
      },
      onDataEnd: (flags) => void ((flags & END_STREAM) !== 0 && heard.push("end")),
      onFrame(type, flags, id, payload) {
        const code = payload[payload.length - 1];
        if (type === HEADERS) heard.push(`${id} ${decoder.decode(payload)[1]}${(flags & END_STREAM) === 0 ? "" : " end"}`);
        else if (type === RST_STREAM) heard.push(`${id} reset ${code}`);
        else if (type === GOAWAY) heard.push(`goaway ${code}`);
        else if (type === PING || (type === SETTINGS && flags === ACK)) heard.push("ack");
        else if (type === WINDOW_UPDATE) heard.push(`window of ${id}`);
      },
    },
    2 ** 24 - 1,
  );
  const closed = vi.fn();
  const ended = vi.fn();
  const server = http2Server(input, output, { limits, bodyMs, take, onClose: closed, onEnd: ended });
  cleanups.push(() => server.destroy());
  const encoder = new HpackEncoder();
  const send = (...frames: readonly Uint8Array[]): void => void input.write(Buffer.concat(frames));
  const request = (id: number, headers: readonly string[] = post, flags = END_STREAM): Uint8Array =>
    frame(HEADERS, END_HEADERS | flags, id, encoder.encode(headers));
  return {
    input,
    output,
    server,
    heard,
    lengths,
    closed,
    ended,
    send,
    request,
    read: () => void output.on("data", (bytes) => reader.push(bytes)),
    data: () => data,
    hears: (what: string) => vi.waitFor(() => expect(heard).toContain(what)),
  };
}

type Peer = ReturnType<typeof peer>;

function greeted(take: (exchange: Exchange) => void = echo, limits?: Partial<Limits>, bodyMs?: number): Peer {
  const made = peer(take, limits, bodyMs);
  made.read();
  made.send(Buffer.from(PREFACE), settings([]));
  return made;
}

/** Answers with the body, or with what is wrong with it. */
function echo(exchange: Exchange): void {
  exchange.body(1024).then(
    (text) => exchange.reply(200, {}, text),
    (fault) => exchange.reply(400, {}, fault.message),
  );
}

describe("the HTTP/2 server", () => {
  it("answers a request, wherever its bytes are cut", async () => {
    const made = peer((exchange) => {
      expect([exchange.path, exchange.query.get("a"), exchange.header("host"), exchange.hosts]).toEqual(["/mcp", "1", "here", ["here"]]);
      expect(exchange.headers).not.toHaveProperty(":path");
      echo(exchange);
    });
    made.read();
    const all = [
      Buffer.from(PREFACE),
      settings([]),
      made.request(1, post, 0),
      frame(DATA, 0, 1, Buffer.from("hel")),
      frame(DATA, END_STREAM, 1, Buffer.from("lo")),
    ];
    for (const byte of Buffer.concat(all)) made.input.write(Buffer.of(byte));
    await made.hears("end");
    expect(made.heard).toContain("1 200");
    expect(made.data()).toBe("hello");
  });

  it("ends a connection that violates the protocol, and says how", async () => {
    const hello = [Buffer.from(PREFACE), settings([])];
    const bad: [code: number, ...frames: Uint8Array[]][] = [
      [1, Buffer.from("GET / HTTP/1.1\r\n\r\n")],
      [1, Buffer.from(PREFACE), frame(PING, 0, 0, new Uint8Array(8))],
      [6, ...hello, frame(DATA, 0, 1, new Uint8Array(FRAME_BYTES + 1))],
      [9, ...hello, frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff))],
      [1, ...hello, frame(HEADERS, END_HEADERS | END_STREAM, 2, Buffer.of(0x82))],
      [1, ...hello, frame(DATA, 0, 0, Buffer.of(1))],
      [1, ...hello, frame(DATA, 0, 5, Buffer.of(1))],
      [1, ...hello, numbers(RST_STREAM, 1, 8)],
      [1, ...hello, frame(PUSH_PROMISE, 0, 1, new Uint8Array(4))],
      [1, ...hello, settings([[2, 2]])],
      [3, ...hello, numbers(WINDOW_UPDATE, 0, LARGEST_WINDOW)],
      [1, ...hello, numbers(WINDOW_UPDATE, 0, 0)],
      [1, ...hello, frame(HEADERS, 0, 1, Buffer.of(0x82)), frame(PING, 0, 0, new Uint8Array(8))],
      [11, ...hello, frame(HEADERS, 0, 1, Buffer.of(0x82)), ...Array.from({ length: 100 }, () => frame(CONTINUATION, 0, 1, undefined))],
    ];
    for (const [code, ...frames] of bad) {
      const made = peer(() => {});
      made.read();
      made.send(...frames);
      await made.hears(`goaway ${code}`);
      expect(made.closed).toHaveBeenCalledTimes(1);
    }
  });

  it("resets only the stream whose request violates the protocol", async () => {
    const taken = vi.fn(echo);
    const made = greeted(taken);
    const bad: string[][] = [
      without(":method"),
      without(":scheme"),
      without(":path"),
      [...post, ":status", "200"],
      [...post, "Upper", "1"],
      [...post, "connection", "close"],
      ["early", "1", ...post],
      [...post, ":path", "/twice"],
      [...post, "a", "b\r\nc: d"],
    ];
    bad.forEach((headers, at) => {
      made.send(made.request(1 + 2 * at, headers));
    });
    for (const at of bad.keys()) await made.hears(`${1 + 2 * at} reset 1`);
    expect(taken).not.toHaveBeenCalled();
    made.send(made.request(101, [...post, "content-length", "3"], 0), frame(DATA, END_STREAM, 101, Buffer.of(65)));
    await made.hears("101 reset 1");
    made.send(made.request(103, post, 0), numbers(WINDOW_UPDATE, 103, LARGEST_WINDOW));
    await made.hears("103 reset 3");
    made.send(made.request(105, post, 0), numbers(WINDOW_UPDATE, 105, 0));
    await made.hears("105 reset 1");
    made.send(made.request(107));
    await made.hears("107 200 end");
  });

  it("accepts empty frames and ignores what comes for streams that have ended", async () => {
    const made = greeted();
    made.send(
      made.request(1, post, 0),
      ...Array.from({ length: 1000 }, () => frame(DATA, 0, 1, undefined)),
      frame(DATA, END_STREAM, 1, Buffer.from("x")),
    );
    await made.hears("end");
    const late = frame(DATA, 0, 1, new Uint8Array(FRAME_BYTES));
    made.send(
      ...Array.from({ length: (0.6 * WINDOW) / FRAME_BYTES }, () => late),
      numbers(RST_STREAM, 1, CANCEL),
      numbers(WINDOW_UPDATE, 1, 9),
    );
    made.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.of(0x82)), frame(77, 0, 1, undefined), made.request(3));
    await made.hears("3 200 end");
    // What nobody reads does not use up the window of the connection.
    expect(made.heard.filter((each) => each === "window of 0").length).toBeGreaterThan(1);
  });

  it("refuses requests beyond those that it takes at a time, and lists of headers that are too long", async () => {
    const taken = vi.fn();
    const made = greeted(taken, { headerBytes: 1024 });
    for (let at = 0; at <= CONCURRENT; at++) made.send(made.request(1 + 2 * at));
    await made.hears(`${1 + 2 * CONCURRENT} reset 7`);
    expect(taken).toHaveBeenCalledTimes(CONCURRENT);
    made.send(numbers(RST_STREAM, 1, CANCEL), made.request(10_001, [...post, "long", "x".repeat(2000)]));
    await made.hears("10001 431");
    made.send(made.request(10_003, [...post, "long", "x".repeat(5000)]));
    await made.hears("goaway 9");
    expect(taken).toHaveBeenCalledTimes(CONCURRENT);
  });

  it("counts what arrives, and drops a body that is too large or too late", async () => {
    const before = heldBytes();
    const made = greeted(echo, { messageBytes: 1000 });
    const bytes = Array.from({ length: 900 }, () => frame(DATA, 0, 1, Buffer.of(65)));
    made.send(made.request(1, post, 0), ...bytes);
    await vi.waitFor(() => expect(heldBytes() - before).toBeGreaterThan(900 + 4096));
    // Each byte is a frame, and no byte may take more than two.
    expect(heldBytes() - before).toBeLessThan(8192);
    made.send(frame(DATA, 0, 1, new Uint8Array(200)));
    await vi.waitFor(() => expect(made.data()).toContain("the body is larger than 1000 bytes"));
    // The client still sends, so it is told to stop.
    await made.hears("1 reset 0");
    made.send(made.request(5, post, 0), frame(DATA, 0, 5, Buffer.of(65)), numbers(RST_STREAM, 5, CANCEL));
    const late = greeted(echo, undefined, 50);
    late.send(late.request(1, post, 0));
    await late.hears("1 reset 0");
    expect(late.data()).toContain("the body did not arrive within 50 ms");
    await vi.waitFor(() => expect(heldBytes()).toBe(before));
  });

  it("refuses a request that there is no room for, and opens the window for a large body", async () => {
    const full = greeted(echo, { connectionBytes: 0, reserveBytes: 0 });
    full.send(full.request(1));
    await full.hears("1 429");
    const body = vi.fn();
    const made = greeted((exchange) => void exchange.body(defaultLimits.messageBytes).then(body));
    made.send(made.request(1, post, 0));
    for (let sent = 0; sent < 1.25 * WINDOW; sent += FRAME_BYTES) made.send(frame(DATA, 0, 1, Buffer.alloc(FRAME_BYTES, 65)));
    await made.hears("window of 1");
    made.send(frame(DATA, END_STREAM, 1, undefined));
    await vi.waitFor(() => expect(body).toHaveBeenCalledWith("A".repeat(1.25 * WINDOW)));
  });

  it("reads no more requests while its answers are not read", async () => {
    const made = peer(echo);
    made.send(Buffer.from(PREFACE), settings([]));
    const pings = Buffer.concat(Array.from({ length: 3000 }, () => frame(PING, 0, 0, new Uint8Array(8))));
    let sent = 0;
    while (made.input.writableLength < 1024 * 1024 && sent < 200) {
      made.input.write(pings);
      sent++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(made.output.readableLength + made.output.writableLength).toBeLessThan(1024 * 1024);
    expect(sent).toBeLessThan(200);
    made.read();
    await vi.waitFor(() => expect(made.heard.filter((each) => each === "ack").length).toBe(sent * 3000 + 1));
    made.send(made.request(1));
    await made.hears("1 200 end");
  });

  it("lets a client that stops reading stop only its own answer, and cancel it", async () => {
    const gone = vi.fn();
    let written = 0;
    let over = false;
    const made = greeted(async (exchange) => {
      if (exchange.header("endless") === undefined) return exchange.reply(200, {}, "other");
      exchange.onGone(gone);
      const outlet = exchange.stream(200, {});
      for (; gone.mock.calls.length === 0; written += 50_000) await outlet.write(new Uint8Array(50_000));
      over = true;
      expect(outlet.backlog).toBe(0);
    });
    made.send(settings([[INITIAL_WINDOW_SIZE, 100_000]]), numbers(WINDOW_UPDATE, 0, 10_000_000));
    made.send(made.request(1, [...post, "endless", "1"]));
    await vi.waitFor(() => expect(made.data().length).toBe(100_000));
    made.send(made.request(3));
    await made.hears("3 200");
    expect(written).toBe(100_000);
    made.send(numbers(WINDOW_UPDATE, 1, 60_000));
    await vi.waitFor(() => expect(made.data().length).toBe(160_000 + 5));
    expect(written).toBe(150_000);
    made.send(numbers(RST_STREAM, 1, CANCEL));
    await vi.waitFor(() => expect(over).toBe(true));
    expect(gone).toHaveBeenCalledTimes(1);
  });

  it("sends frames as long as its client allows", async () => {
    const answer = (exchange: Exchange): void => exchange.reply(200, {}, "x".repeat(40_000));
    for (const [allowed, longest] of [
      [FRAME_BYTES, FRAME_BYTES],
      [64 * 1024, 40_000],
    ] as const) {
      const made = greeted(answer);
      made.send(settings([[MAX_FRAME_SIZE, allowed]]), made.request(1));
      await made.hears("end");
      expect(Math.max(...made.lengths)).toBe(longest);
    }
  });

  it("sends no body to HEAD, and cuts an answer that is aborted", async () => {
    const made = greeted((exchange) => {
      if (exchange.method === "HEAD") return exchange.reply(404, {}, "nothing here");
      const outlet = exchange.stream(200, {});
      void outlet.write("half");
      setImmediate(() => outlet.abort());
    });
    made.send(made.request(1, [":method", "HEAD", ...without(":method")]), made.request(3));
    await made.hears("1 404 end");
    await made.hears("3 reset 2");
    expect(made.data()).toBe("half");
  });

  it("finishes answers after the end of the input, and gives up requests that are not complete", async () => {
    const gone = vi.fn();
    let answer = (): void => {};
    const made = greeted((exchange) => {
      if (exchange.header("open") !== undefined) exchange.onGone(gone);
      else answer = () => exchange.reply(200, {}, "at last");
    });
    made.send(made.request(1), made.request(3, [...post, "open", "1"], 0));
    made.input.end();
    await vi.waitFor(() => expect(made.ended).toHaveBeenCalled());
    expect(gone).toHaveBeenCalledTimes(1);
    made.server.close();
    await made.hears("goaway 0");
    expect(made.output.writableEnded).toBe(false);
    answer();
    await vi.waitFor(() => expect(made.closed).toHaveBeenCalledTimes(1));
    expect(made.data()).toBe("at last");
    expect(made.output.writableEnded).toBe(true);
  });

  it("takes no more requests after a GOAWAY of either side", async () => {
    const taken = vi.fn(echo);
    const made = greeted(taken);
    made.send(numbers(GOAWAY, 0, 0, 0), made.request(1));
    await vi.waitFor(() => expect(made.closed).toHaveBeenCalledTimes(1));
    expect(taken).not.toHaveBeenCalled();
  });
});
