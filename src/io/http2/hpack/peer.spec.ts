import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { HpackDecoder } from "./decoder.js";
import { HpackEncoder } from "./encoder.js";
import { codeLengths, huffmanCodes } from "./huffman.js";

const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const WINDOW_UPDATE = 8;
const CONTINUATION = 9;
const END_STREAM = 0x1;
const ACK = 0x1;
const END_HEADERS = 0x4;
const TABLE_SIZE = 1;

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly body: Buffer;
}

function frame(type: number, flags: number, stream: number, body: Uint8Array): Buffer {
  const bytes = Buffer.alloc(9 + body.length);
  bytes.writeUIntBE(body.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(body, 9);
  return bytes;
}

async function* frames(socket: Socket): AsyncGenerator<Frame> {
  let rest = Buffer.alloc(0);
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      yield { type: rest[3] as number, flags: rest[4] as number, stream: rest.readUInt32BE(5), body: rest.subarray(9, end) };
      rest = rest.subarray(end);
    }
  }
}

/** What a request got: two header lists and what the server says that it received. */
interface Answer {
  readonly lists: string[][];
  readonly received: string[];
}

/** A client of frames written by hand. */
class RawClient {
  readonly encoder = new HpackEncoder();
  readonly #decoder: HpackDecoder;
  readonly #socket: Socket;
  readonly #frames: AsyncGenerator<Frame>;
  #stream = -1;
  /** Blocks that began with a size update, and sizes that the server's SETTINGS set. */
  sizesSeen = 0;
  readonly limits: number[] = [];

  constructor(port: number, tableBytes: number) {
    this.#decoder = new HpackDecoder({ tableBytes, listBytes: 1 << 17 });
    this.#socket = connect(port, "127.0.0.1");
    this.#frames = frames(this.#socket);
    const settings = Buffer.alloc(6);
    settings.writeUInt16BE(TABLE_SIZE, 0);
    settings.writeUInt32BE(tableBytes, 2);
    this.#socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(SETTINGS, 0, 0, settings)]));
  }

  async request(block: Uint8Array): Promise<Answer> {
    this.#stream += 2;
    this.#socket.write(frame(HEADERS, END_HEADERS | END_STREAM, this.#stream, block));
    const lists: string[][] = [];
    const data: Buffer[] = [];
    let blocks: Buffer[] = [];
    for (;;) {
      const { value: next, done } = await this.#frames.next();
      if (done) throw new Error("the server closed the connection");
      const { type, flags, stream, body } = next;
      if (type === SETTINGS) this.#settings(flags, body);
      if (stream !== this.#stream) {
        if (type > 9 || type === 3 || type === 7) throw new Error(`a frame of type ${type}: ${body.toString("hex")}`);
        continue;
      }
      if (type === DATA) {
        data.push(body);
        const bytes = Buffer.alloc(4);
        bytes.writeUInt32BE(body.length);
        if (body.length > 0) this.#socket.write(frame(WINDOW_UPDATE, 0, 0, bytes));
      } else if (type === HEADERS || type === CONTINUATION) {
        if (type === HEADERS) blocks = [];
        blocks.push(body);
        const block = Buffer.concat(blocks);
        if ((flags & END_HEADERS) !== 0) {
          if (((block[0] as number) & 0xe0) === 0x20) this.sizesSeen += 1;
          lists.push(this.#decoder.decode(block));
        }
      } else throw new Error(`a frame of type ${type} on a stream: ${body.toString("hex")}`);
      // A CONTINUATION never follows here the HEADERS that end a stream: trailers are short.
      if (type !== CONTINUATION && (flags & END_STREAM) !== 0) break;
    }
    return { lists, received: JSON.parse(Buffer.concat(data).toString()) as string[] };
  }

  #settings(flags: number, body: Buffer): void {
    if ((flags & ACK) !== 0) return;
    for (let at = 0; at < body.length; at += 6) {
      if (body.readUInt16BE(at) !== TABLE_SIZE) continue;
      this.limits.push(body.readUInt32BE(at + 2));
      this.encoder.limit = body.readUInt32BE(at + 2);
    }
    this.#socket.write(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
  }

  close(): void {
    this.#socket.destroy();
  }
}

const tidy = /^[!-~\xa1-\xff]([ -~\xa1-\xff]*[!-~\xa1-\xff])?$/;
const words = fc.oneof(
  fc.constantFrom("identity,gzip", "a", "application/grpc", "a value that is met again and again"),
  fc.stringMatching(/^[ -~]{1,60}$/).filter((text) => tidy.test(text)),
  fc
    .uint8Array({ minLength: 1, maxLength: 200 })
    .map((bytes) => Buffer.from(bytes).toString("latin1"))
    .filter((text) => tidy.test(text)),
);
const fields = fc
  .array(fc.tuple(fc.stringMatching(/^x-[a-z]{1,2}$/), words), { maxLength: 12 })
  .map((list) => [...new Map(list)])
  .map((list) => list.flat());

const record = (list: readonly string[]): Record<string, string> => {
  const result: Record<string, string> = {};
  for (let i = 0; i < list.length; i += 2) result[list[i] as string] = list[i + 1] as string;
  return result;
};
const start = [":method", "POST", ":scheme", "http", ":authority", "127.0.0.1:5000"];

describe("with nghttp2 on the other side", () => {
  let server: Http2Server | undefined;
  let client: RawClient | undefined;
  let session: ServerHttp2Session | undefined;
  afterEach(async () => {
    client?.close();
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  });

  /** Answers each request with the next of the lists: header fields and trailers. */
  async function open(lists: readonly { headers: string[]; trailers: string[] }[], tableBytes: number): Promise<RawClient> {
    let at = 0;
    server = createServer({ settings: { maxHeaderListSize: 65_535 } });
    server.on("session", (opened) => {
      session = opened;
    });
    server.on("stream", (stream: ServerHttp2Stream, ...rest: unknown[]) => {
      const { headers, trailers } = lists[at++ % lists.length] as { headers: string[]; trailers: string[] };
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", ...record(trailers) }));
      stream.respond({ ":status": 200, "content-type": "application/grpc", ...record(headers) }, { waitForTrailers: true });
      // The third is the list as it came, in order.
      stream.end(JSON.stringify(rest[2]));
    });
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    client = new RawClient((server.address() as AddressInfo).port, tableBytes);
    return client;
  }

  it.each([0, 100, 600, 4096, 65_536])("writes what it reads and reads what it writes, with a table of %i bytes", async (tableBytes) => {
    const sent = fc.sample(fields, { numRuns: 150, seed: 7541 + tableBytes });
    const answers = fc.sample(fc.record({ headers: fields, trailers: fields }), { numRuns: 97, seed: 7540 + tableBytes });
    const limits = [0, 100, 600, 70_000, 4096];
    const one = await open(answers, tableBytes);
    for (let i = 0; i < 300; i += 1) {
      // The server's own table changes now and then, which its SETTINGS tell the client's encoder.
      if (i % 60 === 30) session?.settings({ headerTableSize: limits[Math.floor(i / 60)] as number });
      const request = [...start, ":path", `/${i % 40}`, "te", "trailers", "authorization", `Bearer ${i}`, ...(sent[i % sent.length] ?? [])];
      const { lists, received } = await one.request(one.encoder.encode(request));
      expect(received).toEqual(request);
      const { headers, trailers } = answers[i % answers.length] as { headers: string[]; trailers: string[] };
      expect(lists).toHaveLength(2);
      const date = lists[0]?.indexOf("date") ?? -1;
      expect(lists[0]?.splice(date, 2)[1]).toMatch(/GMT$/);
      expect(lists[0]).toEqual([":status", "200", "content-type", "application/grpc", ...headers]);
      expect(lists[1]).toEqual(["grpc-status", "0", ...trailers]);
    }
    expect(one.limits.slice(-limits.length)).toEqual(limits);
    if (tableBytes < 4096) expect(one.sizesSeen).toBeGreaterThan(0);
  });

  it("reads values longer than a frame, repeated names and all of Latin-1", async () => {
    const letters = Buffer.from(Array.from({ length: 95 }, (_, i) => 32 + i)).toString("latin1");
    const high = Buffer.from(Array.from({ length: 128 }, (_, i) => 128 + i)).toString("latin1");
    const headers = ["x-long", "0123456789 {}~".repeat(2500), "x-letters", `a${letters}z`, "x-high", `é${high}ü`];
    const one = await open([{ headers, trailers: ["grpc-message", "%E2%82%AC ".repeat(40).trim()] }], 4096);
    for (let i = 0; i < 5; i += 1) {
      const request = [
        ...start,
        ":path",
        "/",
        "x-many",
        "a",
        "x-many",
        "b",
        "x-many",
        "a",
        "x-high",
        `é${high}ü`,
        "x-letters",
        `a${letters}z`,
      ];
      const { lists, received } = await one.request(one.encoder.encode(request));
      expect(received).toEqual(request);
      expect(lists[0]?.slice(4, 10)).toEqual(headers);
      expect(lists[1]).toEqual(["grpc-status", "0", "grpc-message", "%E2%82%AC ".repeat(40).trim()]);
    }
  });

  it("means the same by each of Huffman's codes", async () => {
    const codes = huffmanCodes();
    const value = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => byte > 32 && byte !== 127);
    const bits = value.map((byte) => (codes[byte] as number).toString(2).padStart(codeLengths[byte] as number, "0")).join("");
    const bytes = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1").match(/.{8}/g) ?? [];
    const coded = Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
    const one = await open([{ headers: [], trailers: [] }], 4096);
    const request = [...start, ":path", "/"];
    const length = Buffer.of(0xff, 0x80 | ((coded.length - 127) & 0x7f), (coded.length - 127) >> 7);
    const { received } = await one.request(Buffer.concat([one.encoder.encode(request), Buffer.of(0, 1), Buffer.from("x"), length, coded]));
    expect(received).toEqual([...request, "x", Buffer.from(value).toString("latin1")]);
  });
});
