import { once } from "node:events";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { grpcChannel } from "../../../src/io/index.js";
import * as certificates from "./certificates.js";
import { CONTINUATION, END_HEADERS, END_STREAM, HEADERS, hpack, PING, RST_STREAM, SETTINGS } from "./raw.js";
import {
  answer,
  ask,
  begin,
  both,
  data,
  frame,
  GOAWAY,
  head,
  headers,
  say,
  serveFrom,
  setting,
  tail,
  texts,
  WINDOW_UPDATE,
  words,
} from "./raw-server.js";
import { stage } from "./stage.js";
import { collect, frame as message } from "./support.js";

const PRIORITY = 2;
const PUSH_PROMISE = 5;
const PADDED = 8;
const PROTOCOL_ERROR = 1;
const FLOW_CONTROL_ERROR = 3;
const FRAME_SIZE_ERROR = 6;
const COMPRESSION_ERROR = 9;
const ENHANCE_YOUR_CALM = 11;
const WINDOW = 16 << 20;

const raw = stage();
const { start } = raw;

type Evil = (id: number) => Buffer;

describe("what breaks a stream", () => {
  const cases: [string, number, Evil][] = [
    ["data before headers", PROTOCOL_ERROR, (id) => say(id, "early")],
    ["an end before headers", PROTOCOL_ERROR, (id) => data(id, new Uint8Array(), END_STREAM)],
    ["an upper-case name", PROTOCOL_ERROR, (id) => headers(id, [...head, ["X-Upper", "1"]])],
    ["a name with a space", PROTOCOL_ERROR, (id) => headers(id, [...head, ["x upper", "1"]])],
    ["a name without letters", PROTOCOL_ERROR, (id) => headers(id, [...head, ["", "1"]])],
    ["a value with a line break", PROTOCOL_ERROR, (id) => headers(id, [...head, ["x-a", "1\r\nx-b: 2"]])],
    ["a header of HTTP/1", PROTOCOL_ERROR, (id) => headers(id, [...head, ["transfer-encoding", "chunked"]])],
    ["no status", PROTOCOL_ERROR, (id) => headers(id, head.slice(1))],
    ["no headers at all", PROTOCOL_ERROR, (id) => headers(id, [])],
    ["a status that is none", PROTOCOL_ERROR, (id) => headers(id, [[":status", "2000"], ...head.slice(1)])],
    ["two statuses", PROTOCOL_ERROR, (id) => headers(id, [[":status", "200"], ...head])],
    ["a status behind other headers", PROTOCOL_ERROR, (id) => headers(id, [...head].reverse())],
    ["a request's pseudo-header", PROTOCOL_ERROR, (id) => headers(id, [[":path", "/"]])],
    ["an end with status 100", PROTOCOL_ERROR, (id) => headers(id, [[":status", "100"]], END_HEADERS | END_STREAM)],
    ["trailers that do not end", PROTOCOL_ERROR, (id) => both(begin(id), headers(id, tail))],
    ["trailers with a status of HTTP", PROTOCOL_ERROR, (id) => both(begin(id), headers(id, head, END_HEADERS | END_STREAM))],
    ["a window that is opened by nothing", PROTOCOL_ERROR, (id) => frame(WINDOW_UPDATE, 0, id, words(0))],
    ["a window that is opened too far", FLOW_CONTROL_ERROR, (id) => frame(WINDOW_UPDATE, 0, id, words(2 ** 31 - 1))],
    ["a priority of a wrong length", FRAME_SIZE_ERROR, (id) => frame(PRIORITY, 0, id, words(0))],
  ];

  it.each(cases)("%s", async (_, code, evil) => {
    let heard: number | undefined;
    const dialled = await start(async (peer) => {
      const first = await peer.request(0);
      const second = await peer.request(1);
      peer.send(evil(first));
      heard = await peer.reset(first);
      peer.send(answer(second, "neighbour"));
      await serveFrom(peer, 2);
    });
    const [bad, neighbour] = [ask(dialled), ask(dialled)];
    expect(await bad.status).toMatchObject({ code: 13, message: expect.stringMatching(/^the server/) });
    expect(await texts(neighbour)).toEqual(["neighbour"]);
    expect(heard).toBe(code);
    expect(await texts(ask(dialled))).toEqual(["good"]);
    expect(raw.server.peers.length).toBe(1);
  });

  it("data past the window, whose credit the others still have", async () => {
    let heard: number | undefined;
    const dialled = await start(async (peer) => {
      const first = await peer.request(0);
      const second = await peer.request(1);
      const some = data(first, message(new Uint8Array(16_379)));
      peer.send(begin(first), ...Array.from({ length: (2 * WINDOW) / 16_384 }, () => some));
      heard = await peer.reset(first);
      peer.send(answer(second, "neighbour"));
      await serveFrom(peer, 2);
    });
    // Nobody reads the one, so that all it sends has to fit in its window.
    const [bad, neighbour] = [ask(dialled), ask(dialled)];
    expect(await bad.status).toMatchObject({ code: 13, message: "the server sent more than it may" });
    expect(await texts(neighbour)).toEqual(["neighbour"]);
    expect(heard).toBe(FLOW_CONTROL_ERROR);
    expect(await texts(ask(dialled))).toEqual(["good"]);
    const credits = raw.server.peers[0]?.heard.filter(({ type, id }) => type === WINDOW_UPDATE && id === 0) ?? [];
    const granted = credits.reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0) - (WINDOW - 65_535);
    // What came after the reset counts, too; less than a part of the window may be outstanding.
    expect(granted).toBeGreaterThan(1.75 * WINDOW);
    expect(raw.server.peers.length).toBe(1);
  });
});

describe("what breaks the connection", () => {
  const bomb = (id: number): Buffer => {
    // One large field in the table, and then an octet for each of its copies.
    const value = Buffer.alloc(3900, 0x61);
    const entry = Buffer.concat([Buffer.of(0x40, 1, 0x78, 0x7f, 0xbd, 0x1d), value]);
    return frame(HEADERS, END_HEADERS, id, Buffer.concat([hpack(head), entry, Buffer.alloc(8000, 0xbe)]));
  };
  const cases: [string, number, Evil][] = [
    ["a frame that is too long", FRAME_SIZE_ERROR, (id) => data(id, new Uint8Array(16_385))],
    ["a control frame that is too long", FRAME_SIZE_ERROR, () => frame(PING, 0, 0, new Uint8Array(20_000))],
    ["data on stream 0", PROTOCOL_ERROR, () => data(0, Buffer.from("x"))],
    ["headers on stream 0", PROTOCOL_ERROR, () => headers(0, head)],
    ["data on a stream that was not opened", PROTOCOL_ERROR, () => data(99, Buffer.from("x"))],
    ["headers on a stream that was not opened", PROTOCOL_ERROR, () => headers(99, head)],
    ["headers without an end on a stream that was not opened", PROTOCOL_ERROR, () => headers(99, head, 0)],
    ["data on an even stream", PROTOCOL_ERROR, () => data(2, Buffer.from("x"))],
    ["a reset of a stream that was not opened", PROTOCOL_ERROR, () => frame(RST_STREAM, 0, 99, words(0))],
    ["a reset of stream 0", PROTOCOL_ERROR, () => frame(RST_STREAM, 0, 0, words(0))],
    ["a reset of a wrong length", FRAME_SIZE_ERROR, (id) => frame(RST_STREAM, 0, id, words(0, 0))],
    ["a window of a stream that was not opened", PROTOCOL_ERROR, () => frame(WINDOW_UPDATE, 0, 99, words(1))],
    ["the connection's window opened by nothing", PROTOCOL_ERROR, () => frame(WINDOW_UPDATE, 0, 0, words(0))],
    ["the connection's window opened too far", FLOW_CONTROL_ERROR, () => frame(WINDOW_UPDATE, 0, 0, words(2 ** 31 - 1))],
    ["a window of a wrong length", FRAME_SIZE_ERROR, (id) => frame(WINDOW_UPDATE, 0, id, Buffer.of(1))],
    ["padding longer than its frame", PROTOCOL_ERROR, (id) => both(begin(id), data(id, Buffer.of(4, 0, 0, 0), PADDED))],
    ["padding in an empty frame", PROTOCOL_ERROR, (id) => both(begin(id), data(id, Buffer.of(), PADDED))],
    ["padding longer than its headers", PROTOCOL_ERROR, (id) => frame(HEADERS, END_HEADERS | PADDED, id, Buffer.of(9, 0x88))],
    ["a push", PROTOCOL_ERROR, (id) => frame(PUSH_PROMISE, END_HEADERS, id, both(words(2), hpack(head)))],
    ["headers broken off by data", PROTOCOL_ERROR, (id) => both(headers(id, head, 0), say(id, "x"))],
    ["headers broken off by a ping", PROTOCOL_ERROR, (id) => both(headers(id, head, 0), frame(PING, 0, 0, words(1, 2)))],
    ["headers broken off by an unknown frame", PROTOCOL_ERROR, (id) => both(headers(id, head, 0), frame(99, 0, 0))],
    ["headers that another stream goes on with", PROTOCOL_ERROR, (id) => both(headers(id, head, 0), frame(CONTINUATION, 4, id + 2))],
    ["a continuation of nothing", PROTOCOL_ERROR, (id) => frame(CONTINUATION, END_HEADERS, id, hpack(head))],
    [
      "a list of headers without an end",
      ENHANCE_YOUR_CALM,
      (id) => both(headers(id, head, 0), ...Array.from({ length: 70 }, () => frame(CONTINUATION, 0, id, hpack(tail)))),
    ],
    [
      "empty continuations without an end",
      ENHANCE_YOUR_CALM,
      (id) => both(headers(id, head, 0), ...Array.from({ length: 70 }, () => frame(CONTINUATION, 0, id))),
    ],
    [
      "long continuations",
      ENHANCE_YOUR_CALM,
      (id) => both(headers(id, head, 0), ...Array.from({ length: 5 }, () => frame(CONTINUATION, 0, id, new Uint8Array(16_000)))),
    ],
    ["a list of headers that grows when it is unpacked", COMPRESSION_ERROR, bomb],
    [
      "headers that cannot be unpacked",
      COMPRESSION_ERROR,
      (id) => frame(HEADERS, END_HEADERS, id, Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff)),
    ],
    ["an index that there is not", COMPRESSION_ERROR, (id) => frame(HEADERS, END_HEADERS, id, Buffer.of(0xfe))],
    ["settings on a stream", PROTOCOL_ERROR, (id) => frame(SETTINGS, 0, id)],
    ["settings of a wrong length", FRAME_SIZE_ERROR, () => frame(SETTINGS, 0, 0, Buffer.alloc(5))],
    ["settings that agree with something", FRAME_SIZE_ERROR, () => frame(SETTINGS, 1, 0, Buffer.alloc(6))],
    ["frames that are too short", PROTOCOL_ERROR, () => setting([5, 16_383])],
    ["frames that are too long", PROTOCOL_ERROR, () => setting([5, 2 ** 24])],
    ["a first window that is too large", FLOW_CONTROL_ERROR, () => setting([4, 2 ** 31])],
    [
      "a first window that is too large for a stream",
      FLOW_CONTROL_ERROR,
      (id) => both(frame(WINDOW_UPDATE, 0, id, words(1000)), setting([4, 2 ** 31 - 1])),
    ],
    ["pushes that are announced", PROTOCOL_ERROR, () => setting([2, 1])],
    ["a ping on a stream", PROTOCOL_ERROR, (id) => frame(PING, 0, id, words(1, 2))],
    ["a ping of a wrong length", FRAME_SIZE_ERROR, () => frame(PING, 0, 0, words(1))],
    ["a goodbye on a stream", PROTOCOL_ERROR, (id) => frame(GOAWAY, 0, id, words(0, 0))],
    ["a goodbye that is too short", FRAME_SIZE_ERROR, () => frame(GOAWAY, 0, 0, words(0))],
    ["a priority of stream 0", PROTOCOL_ERROR, () => frame(PRIORITY, 0, 0, Buffer.alloc(5))],
  ];

  it.each(cases)("%s", async (_, code, evil) => {
    const dialled = await start(async (peer) => {
      if (peer.number > 0) return serveFrom(peer, 0);
      const first = await peer.request(0);
      await peer.request(1);
      peer.send(evil(first));
    });
    const calls = [ask(dialled), ask(dialled)];
    for (const call of calls)
      expect((await collect(call)).fault).toMatchObject({ code: "unavailable", data: { reason: "connection-lost" } });
    expect(await raw.server.peers[0]?.left).toBe(code);
    expect(await texts(ask(dialled))).toEqual(["good"]);
    expect(raw.server.peers.length).toBe(2);
  });
});

describe("a server that does not speak HTTP/2", () => {
  it.each([
    ["HTTP/1", Buffer.from("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"), /: the server speaks HTTP\/1 and not HTTP\/2$/],
    ["something else", Buffer.from("SSH-2.0-OpenSSH_9.6\r\n"), /: the server does not speak HTTP\/2$/],
    ["no settings first", frame(PING, 0, 0, words(1, 2)), /: the server does not begin with its settings$/],
    ["an acknowledgement first", frame(SETTINGS, 1, 0), /: the server does not begin with its settings$/],
    ["data first", data(1, Buffer.from("x")), /: the server does not begin with its settings$/],
  ])("but %s", async (_, hello, words) => {
    const dialled = await start(() => {}, { hello });
    const { fault } = await collect(ask(dialled));
    expect(fault).toMatchObject({ code: "unavailable", message: expect.stringMatching(words), data: { reason: "http2" } });
    expect(await raw.server.peers[0]?.left).toBe(PROTOCOL_ERROR);
  });

  it("but closes at once", async () => {
    const dialled = await start((peer) => void peer.socket.end(), { hello: Buffer.of() });
    const { fault } = await collect(ask(dialled));
    expect(fault).toMatchObject({ code: "unavailable", message: "the connection to the server failed: the server closed the connection" });
  });
});

describe("a server behind TLS", () => {
  it("that chose HTTP/1 is told apart", async () => {
    const https = createHttps({ ...certificates.server });
    https.listen(0, "127.0.0.1");
    await once(https, "listening");
    const { port } = https.address() as AddressInfo;
    const ca = certificates.server.cert;
    const either = grpcChannel([{ host: "localhost", port, tls: { ca, ALPNProtocols: ["h2", "http/1.1"] } }]);
    expect(await either.call("/t.T/M").status).toMatchObject({
      code: 14,
      message: "the connection to the server failed: the server chose http/1.1 and not HTTP/2",
    });
    await either.close();
    const strict = grpcChannel([{ host: "localhost", port, tls: { ca } }]);
    expect(await strict.call("/t.T/M").status).toMatchObject({ code: 14, message: expect.stringMatching(/no application protocol/) });
    await strict.close();
    https.closeAllConnections();
    await new Promise((resolve) => https.close(resolve));
  });
});
