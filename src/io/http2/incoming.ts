import { creditStep } from "./bounds.js";
import { broken } from "./broken.js";
import { type FrameSink, Http2FrameReader } from "./frame-reader.js";
import {
  ACK,
  CONTINUATION,
  END_STREAM,
  FRAME_SIZE_ERROR,
  frame,
  GOAWAY,
  HEADERS,
  PING,
  PING_BYTES,
  PRIORITY,
  PROTOCOL_ERROR,
  PUSH_PROMISE,
  RST_STREAM,
  readUint31,
  readUint32,
  SETTINGS,
  WINDOW_UPDATE,
} from "./frames.js";
import { HeaderBlocks } from "./header-blocks.js";
import { readSettings } from "./settings.js";
import type { Http2Stream } from "./stream.js";

/** How a session reacts to the frames of its peer. What it throws ends the connection. Its message, for a client, calls the peer a server. */
export interface FrameListener {
  /** Whether the peer is a client. */
  readonly serves: boolean;
  readonly window: number;
  /** Whether the peer is on this machine. */
  readonly near: boolean;
  readonly streams: { get(id: number): Http2Stream | undefined };
  /** The first stream number that was not used yet. */
  readonly nextId: number;
  readonly destroyed: boolean;
  /** Lets the peer send this many more bytes, on a stream or, for 0, on the connection. */
  credit(id: number, bytes: number): void;
  /** Answers the peer, which may not read it. */
  reply(bytes: Uint8Array): void;
  /** The peer accepts this many more bytes, over all streams. */
  grant(bytes: number): void;
  /** A list of headers for a stream that is open or has ended; of a client, also for a new one. */
  headers(id: number, headers: readonly string[], end: boolean): void;
  /** A setting with a valid value. It may be an unknown one. */
  setting(name: number, value: number): void;
  /** A SETTINGS frame was read. */
  settled(): void;
  /** The server has read the settings that were sent last. */
  acknowledged(): void;
  pong(): void;
  goaway(last: number, code: number, words: string): void;
}

export interface FrameBounds {
  /** Bytes of a frame. */
  readonly frameBytes?: number | undefined;
  /** Bytes of a list of headers. */
  readonly listBytes: number;
}

/** Characters to keep of the peer's message in GOAWAY. */
const WORDS = 200;

/** Reads the frames of a peer and checks the rules of HTTP/2. */
export class IncomingFrames implements FrameSink {
  readonly #reader: Http2FrameReader;
  readonly #blocks: HeaderBlocks;
  readonly #listener: FrameListener;
  /** Whether the peer has sent its first settings. */
  #greeted = false;
  /** The stream of the DATA frame that is being read. */
  #current: Http2Stream | undefined;
  /** Bytes that have arrived and were not credited to the peer yet. */
  #owed = 0;

  constructor(listener: FrameListener, { frameBytes, listBytes }: FrameBounds) {
    this.#listener = listener;
    this.#reader = new Http2FrameReader(this, frameBytes);
    this.#blocks = new HeaderBlocks((id, headers, end) => listener.headers(id, headers, end), listBytes);
  }

  /** Throws what broken() makes. */
  push(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  onDataFrame(id: number, length: number): void {
    this.#expected(false);
    const stream = this.#known(id);
    this.#current = stream;
    stream?.count(length);
    // A slow reader only holds up its own stream. This window is shared by all streams, and only limits what arrives before it is
    // processed.
    this.#owed += length;
    if (this.#owed < creditStep(this.#listener.window, this.#listener.near)) return;
    this.#listener.credit(0, this.#owed);
    this.#owed = 0;
  }

  onDataBytes(bytes: Uint8Array): void {
    this.#current?.data(bytes);
  }

  onDataEnd(flags: number): void {
    this.#current?.dataEnd((flags & END_STREAM) !== 0);
  }

  onFrame(type: number, flags: number, id: number, payload: Uint8Array): void {
    // The rest of what was read when the session was destroyed.
    if (this.#listener.destroyed) return;
    if (type === CONTINUATION) return this.#blocks.continue(id, flags, payload);
    this.#expected(type === SETTINGS && (flags & ACK) === 0);
    switch (type) {
      case HEADERS:
        if (!this.#listener.serves || id % 2 === 0) this.#known(id);
        return this.#blocks.begin(id, flags, payload);
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
        if (id === 0) throw broken(PROTOCOL_ERROR, "the server gave no stream a priority");
        if (payload.length !== 5) this.#listener.streams.get(id)?.fault(FRAME_SIZE_ERROR, "the server sent a frame of a wrong length");
        return;
      default:
      // Unknown frame types must be ignored.
    }
  }

  /** No other frame may come between those of one header list, and settings come first. */
  #expected(hello: boolean): void {
    if (this.#blocks.open) throw broken(PROTOCOL_ERROR, "the server broke off a list of headers");
    if (!this.#greeted && !hello) throw broken(PROTOCOL_ERROR, "the server does not begin with its settings");
  }

  /** The stream of a frame; undefined if it has ended. */
  #known(id: number): Http2Stream | undefined {
    const stream = this.#listener.streams.get(id);
    if (stream === undefined && (id % 2 === 0 || id >= this.#listener.nextId))
      throw broken(PROTOCOL_ERROR, "the server sent something on a stream that there is not");
    return stream;
  }

  #settings(flags: number, id: number, payload: Uint8Array): void {
    if (id !== 0) throw broken(PROTOCOL_ERROR, "the server sent settings for a stream");
    const listener = this.#listener;
    if ((flags & ACK) !== 0) {
      sized(payload, 0);
      return listener.acknowledged();
    }
    readSettings(payload, listener.serves, (name, value) => listener.setting(name, value));
    listener.reply(frame(SETTINGS, ACK, 0, undefined));
    this.#greeted = true;
    listener.settled();
  }

  #ping(flags: number, id: number, payload: Uint8Array): void {
    sized(payload, PING_BYTES);
    if (id !== 0) throw broken(PROTOCOL_ERROR, "the server sent a ping on a stream");
    if ((flags & ACK) === 0) this.#listener.reply(frame(PING, ACK, 0, payload));
    else this.#listener.pong();
  }

  #goaway(id: number, payload: Uint8Array): void {
    if (id !== 0) throw broken(PROTOCOL_ERROR, "the server left a stream as if it were the connection");
    if (payload.length < 8) throw broken(FRAME_SIZE_ERROR, "the server sent a frame of a wrong length");
    const words = Buffer.from(payload.subarray(8, 8 + WORDS)).toString("latin1");
    this.#listener.goaway(readUint31(payload, 0), readUint32(payload, 4), words.replace(/[^ -~]/g, "?"));
  }

  #windowUpdate(id: number, payload: Uint8Array): void {
    sized(payload, 4);
    const more = readUint31(payload, 0);
    if (id !== 0) this.#known(id)?.grant(more);
    else if (more === 0) throw broken(PROTOCOL_ERROR, "the server opened a window by nothing");
    else this.#listener.grant(more);
  }
}

function sized(payload: Uint8Array, bytes: number): void {
  if (payload.length !== bytes) throw broken(FRAME_SIZE_ERROR, "the server sent a frame of a wrong length");
}
