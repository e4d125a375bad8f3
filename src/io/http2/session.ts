import type { Duplex } from "node:stream";
import { Fault, toFault } from "../../core/index.js";
import { broken } from "./broken.js";
import { FrameReader, type FrameSink } from "./frame-reader.js";
import {
  ACK,
  COMPRESSION_ERROR,
  CONTINUATION,
  ENABLE_PUSH,
  END_HEADERS,
  END_STREAM,
  ENHANCE_YOUR_CALM,
  FIRST_WINDOW,
  FLOW_CONTROL_ERROR,
  FRAME_BYTES,
  FRAME_SIZE_ERROR,
  frame,
  GOAWAY,
  HEADER_TABLE_SIZE,
  HEADERS,
  INITIAL_WINDOW_SIZE,
  LARGEST_WINDOW,
  LAST_STREAM,
  MAX_CONCURRENT_STREAMS,
  MAX_FRAME_SIZE,
  MAX_HEADER_LIST_SIZE,
  NO_ERROR,
  numbers,
  PADDED,
  PING,
  PREFACE,
  PRIORITISED,
  PRIORITY,
  PROTOCOL_ERROR,
  PUSH_PROMISE,
  REFUSED_STREAM,
  RST_STREAM,
  readUint31,
  readUint32,
  SETTINGS,
  settings,
  WINDOW_UPDATE,
} from "./frames.js";
import { HpackDecoder, HpackEncoder } from "./hpack/index.js";
import { Sender } from "./sender.js";
import { type Carrier, ClientStream } from "./stream.js";
import type { Http2ClientOptions, Http2ClientSession, Http2ClientStream, StreamEvents } from "./types.js";

/** Bytes of one list of headers, packed and unpacked. */
const HEADER_BYTES = 64 * 1024;
const TABLE_BYTES = 4096;
/** Bytes of answers to a server that asks on and does not read them. */
const REPLY_BYTES = 64 * 1024;
const PING_BYTES = 8;

/** Speaks HTTP/2 on a socket; `open` makes it, and gives what comes on it to the function it gets. */
export function http2Client(open: (read: (bytes: Uint8Array) => void) => Duplex, options: Http2ClientOptions): Http2ClientSession {
  return new Session(open, options);
}

class Session implements Http2ClientSession, FrameSink, Carrier {
  readonly window: number;
  readonly #options: Http2ClientOptions;
  readonly #socket: Duplex;
  readonly #reader: FrameReader = new FrameReader(this);
  readonly #sender: Sender;
  readonly #encoder: HpackEncoder = new HpackEncoder();
  readonly #decoder: HpackDecoder = new HpackDecoder({ tableBytes: TABLE_BYTES, listBytes: HEADER_BYTES });
  readonly #streams = new Map<number, ClientStream>();
  /** Requests that the server has no room for yet. */
  readonly #waiting = new Set<ClientStream>();
  readonly #pings: ((error: Error | null) => void)[] = [];
  #nextId = 1;
  #concurrent = Number.POSITIVE_INFINITY;
  #firstRoom = FIRST_WINDOW;
  #ready = false;
  #closed = false;
  #destroyed = false;
  #error: Error | undefined;
  /** Bytes that came and the server does not know to be taken. */
  #owed = 0;
  /** The stream of the frame of data that is being read. */
  #current: ClientStream | undefined;
  /** A list of headers that goes on in the next frame. */
  #block: { readonly id: number; readonly end: boolean; readonly parts: Uint8Array[]; bytes: number } | undefined;

  constructor(open: (read: (bytes: Uint8Array) => void) => Duplex, options: Http2ClientOptions) {
    this.#options = options;
    this.window = options.window;
    this.#socket = open(this.#read);
    this.#sender = new Sender(this.#socket);
    this.#socket.on("error", this.#onError);
    this.#socket.once("end", () => this.destroy());
    this.#socket.once("close", this.#onClose);
    this.#sender.frame(Buffer.from(PREFACE, "latin1"));
    this.#sender.frame(
      settings([
        [ENABLE_PUSH, 0],
        [INITIAL_WINDOW_SIZE, options.window],
        [MAX_HEADER_LIST_SIZE, HEADER_BYTES],
      ]),
    );
    this.#sender.frame(numbers(WINDOW_UPDATE, 0, options.window - FIRST_WINDOW));
  }

  get concurrent(): number {
    return this.#concurrent;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get destroyed(): boolean {
    return this.#destroyed;
  }

  request(headers: readonly string[], events: StreamEvents): Http2ClientStream {
    if (this.#closed) throw new Fault("unavailable", "the connection takes no more calls", { data: { reason: "closed" } });
    const stream = new ClientStream(headers, events, this);
    if (this.#streams.size < this.#concurrent) this.#open(stream);
    else this.#waiting.add(stream);
    return stream;
  }

  ping(done: (error: Error | null) => void): void {
    if (this.#destroyed) return done(this.#error ?? new Fault("unavailable", "the connection is closed"));
    this.#pings.push(done);
    this.#sender.frame(frame(PING, 0, 0, new Uint8Array(PING_BYTES)));
  }

  close(): void {
    this.#closed = true;
    this.#idle();
  }

  destroy(error?: Error): void {
    if (this.#destroyed) return;
    this.#destroyed = this.#closed = true;
    this.#error ??= error;
    const lost = this.#error ?? new Fault("unavailable", "the connection was closed", { data: { reason: "closed" } });
    this.#socket.destroy();
    const streams = [...this.#streams.values(), ...this.#waiting];
    this.#streams.clear();
    this.#waiting.clear();
    for (const stream of streams) stream.shut(stream.id === 0 ? REFUSED_STREAM : NO_ERROR, lost);
    for (const done of this.#pings.splice(0)) done(lost);
  }

  // What its streams ask for.

  ready(stream: ClientStream): void {
    if (stream.id !== 0) this.#sender.ready(stream);
  }

  credit(id: number, bytes: number): void {
    this.#sender.frame(numbers(WINDOW_UPDATE, id, bytes));
  }

  forget(stream: ClientStream, code: number | undefined): void {
    if (stream.id === 0) {
      this.#waiting.delete(stream);
      return;
    }
    if (!this.#streams.delete(stream.id)) return;
    if (code !== undefined) this.#sender.frame(numbers(RST_STREAM, stream.id, code));
    this.#admit();
    this.#idle();
  }

  // What the reader finds.

  onDataFrame(id: number, length: number): void {
    this.#expected();
    const stream = this.#known(id);
    this.#current = stream;
    stream?.count(length);
    // A reader that is slow holds up its own stream: this window is for all of them, and bounds only what comes before it is looked at.
    this.#owed += length;
    if (this.#owed < this.window / 2) return;
    this.credit(0, this.#owed);
    this.#owed = 0;
  }

  onDataBytes(bytes: Uint8Array): void {
    this.#current?.data(bytes);
  }

  onDataEnd(flags: number): void {
    this.#current?.dataEnd((flags & END_STREAM) !== 0);
  }

  onFrame(type: number, flags: number, id: number, payload: Uint8Array): void {
    if (type === CONTINUATION) return this.#continuation(id, flags, payload);
    this.#expected(type);
    switch (type) {
      case HEADERS:
        return this.#headers(id, flags, payload);
      case RST_STREAM:
        sized(payload, 4);
        return this.#known(id)?.resetCame(readUint32(payload, 0));
      case SETTINGS:
        return this.#settings(flags, id, payload);
      case PING:
        return this.#ping(flags, id, payload);
      case GOAWAY:
        return this.#goaway(id, payload);
      case WINDOW_UPDATE:
        return this.#windowUpdate(id, payload);
      case PUSH_PROMISE:
        throw broken(PROTOCOL_ERROR, "the server pushed, which it was told not to do");
      case PRIORITY:
        return sized(payload, 5);
      default:
      // Whatever was added to HTTP/2 is to be ignored.
    }
  }

  readonly #read = (bytes: Uint8Array): void => {
    if (this.#destroyed) return;
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.#fail(toFault(error));
    }
  };

  /** Nothing may come between the frames of one list of headers, and settings come first. */
  #expected(type?: number): void {
    if (this.#block !== undefined) throw broken(PROTOCOL_ERROR, "the server broke off a list of headers");
    if (!this.#ready && type !== SETTINGS) throw broken(PROTOCOL_ERROR, "the server does not begin with its settings");
  }

  /** The stream of a frame; undefined if it is over. */
  #known(id: number): ClientStream | undefined {
    const stream = this.#streams.get(id);
    if (stream === undefined && (id === 0 || id % 2 === 0 || id >= this.#nextId))
      throw broken(PROTOCOL_ERROR, "the server sent something on a stream that there is not");
    return stream;
  }

  #headers(id: number, flags: number, payload: Uint8Array): void {
    let start = 0;
    let end = payload.length;
    if ((flags & PADDED) !== 0) {
      start = 1;
      end -= payload[0] ?? 0;
    }
    if ((flags & PRIORITISED) !== 0) start += 5;
    if (start > end) throw broken(PROTOCOL_ERROR, "the server sent more padding than frame");
    const last = (flags & END_STREAM) !== 0;
    const fragment = payload.subarray(start, end);
    if ((flags & END_HEADERS) !== 0) return this.#list(id, last, fragment);
    this.#block = { id, end: last, parts: [fragment.slice()], bytes: fragment.length };
  }

  #continuation(id: number, flags: number, payload: Uint8Array): void {
    const block = this.#block;
    if (block?.id !== id) throw broken(PROTOCOL_ERROR, "the server continues a list of headers that it did not begin");
    block.bytes += payload.length;
    // Empty ones count, too: a list may not go on for ever.
    if (block.parts.push(payload.slice()) > HEADER_BYTES / 1024 || block.bytes > HEADER_BYTES)
      throw broken(ENHANCE_YOUR_CALM, "the server sent too long a list of headers");
    if ((flags & END_HEADERS) === 0) return;
    this.#block = undefined;
    this.#list(id, block.end, Buffer.concat(block.parts));
  }

  #list(id: number, end: boolean, packed: Uint8Array): void {
    const stream = this.#known(id);
    let headers: string[];
    try {
      // Also for a stream that is over: the tables of both ends have to stay the same.
      headers = this.#decoder.decode(packed);
    } catch (error) {
      throw broken(COMPRESSION_ERROR, toFault(error).message);
    }
    stream?.headersCame(headers, end);
  }

  #settings(flags: number, id: number, payload: Uint8Array): void {
    if (id !== 0) throw broken(PROTOCOL_ERROR, "the server sent settings for a stream");
    if ((flags & ACK) !== 0) return sized(payload, 0);
    if (payload.length % 6 !== 0) throw broken(FRAME_SIZE_ERROR, "the server sent settings of a wrong length");
    for (let at = 0; at < payload.length; at += 6)
      this.#setting((payload[at] as number) * 256 + (payload[at + 1] as number), readUint32(payload, at + 2));
    this.#reply(frame(SETTINGS, ACK, 0, undefined));
    if (!this.#ready) {
      this.#ready = true;
      this.#options.onReady();
    }
    this.#admit();
  }

  #setting(name: number, value: number): void {
    switch (name) {
      case HEADER_TABLE_SIZE:
        this.#encoder.limit = value;
        return;
      case MAX_CONCURRENT_STREAMS:
        this.#concurrent = value;
        return;
      case INITIAL_WINDOW_SIZE: {
        if (value > LARGEST_WINDOW) throw broken(FLOW_CONTROL_ERROR, "the server opened a window too far");
        const more = value - this.#firstRoom;
        this.#firstRoom = value;
        for (const stream of this.#streams.values()) stream.grant(more);
        return;
      }
      case MAX_FRAME_SIZE:
        if (value < FRAME_BYTES || value >= 2 ** 24) throw broken(PROTOCOL_ERROR, "the server's settings are not allowed");
        this.#sender.frameBytes = value;
    }
  }

  #ping(flags: number, id: number, payload: Uint8Array): void {
    sized(payload, PING_BYTES);
    if (id !== 0) throw broken(PROTOCOL_ERROR, "the server sent a ping on a stream");
    if ((flags & ACK) === 0) this.#reply(frame(PING, ACK, 0, payload));
    else this.#pings.shift()?.(null);
  }

  #goaway(id: number, payload: Uint8Array): void {
    if (id !== 0 || payload.length < 8) throw broken(PROTOCOL_ERROR, "the server's GOAWAY is none");
    const last = readUint31(payload, 0);
    const words = Buffer.from(payload.subarray(8)).toString("latin1");
    this.#closed = true;
    this.#options.onGoaway(readUint32(payload, 4), words);
    const unseen = [...this.#streams.values()].filter((stream) => stream.id > last);
    for (const stream of unseen) this.#streams.delete(stream.id);
    const refused = [...unseen, ...this.#waiting];
    this.#waiting.clear();
    for (const stream of refused) stream.shut(REFUSED_STREAM, undefined);
    this.#idle();
  }

  #windowUpdate(id: number, payload: Uint8Array): void {
    sized(payload, 4);
    const more = readUint31(payload, 0);
    if (more === 0) throw broken(PROTOCOL_ERROR, "the server opened a window by nothing");
    if (id === 0) this.#sender.grant(more);
    else this.#known(id)?.grant(more);
  }

  /** Answers the server. One that asks on and does not read the answers is left, because they would pile up here. */
  #reply(bytes: Uint8Array): void {
    if (this.#sender.reply(bytes) > REPLY_BYTES) throw broken(ENHANCE_YOUR_CALM, "the server asks and does not read the answers");
  }

  #open(stream: ClientStream): void {
    stream.id = this.#nextId;
    stream.room = this.#firstRoom;
    this.#nextId += 2;
    this.#streams.set(stream.id, stream);
    this.#sender.headers(stream.id, this.#encoder.encode(stream.headers));
    if (stream.sendable) this.#sender.ready(stream);
    // No stream is numbered twice: the rest goes to another connection.
    if (this.#nextId > LAST_STREAM) {
      this.#closed = true;
      this.#options.onGoaway(NO_ERROR, "");
    }
  }

  /** Sends requests that have waited. */
  #admit(): void {
    for (const stream of this.#waiting) {
      if (this.#streams.size >= this.#concurrent || this.#closed) return;
      this.#waiting.delete(stream);
      this.#open(stream);
    }
  }

  /** Closes the connection when nothing is left to be done on it. */
  #idle(): void {
    if (!this.#closed || this.#destroyed || this.#streams.size > 0 || this.#waiting.size > 0) return;
    this.#sender.frame(numbers(GOAWAY, 0, 0, NO_ERROR));
    this.#sender.end();
  }

  /** The server broke a rule: it hears which, and that is the end. */
  #fail(fault: Fault): void {
    const code = (fault.data as { readonly http2?: number } | undefined)?.http2 ?? PROTOCOL_ERROR;
    this.#sender.frame(numbers(GOAWAY, 0, 0, code));
    this.#sender.flush();
    this.destroy(fault);
  }

  readonly #onError = (error: Error): void => {
    this.#error ??= error;
    this.destroy(error);
  };

  readonly #onClose = (): void => {
    this.destroy();
    this.#options.onClose(this.#error);
  };
}

function sized(payload: Uint8Array, bytes: number): void {
  if (payload.length !== bytes) throw broken(FRAME_SIZE_ERROR, "the server sent a frame of a wrong length");
}
