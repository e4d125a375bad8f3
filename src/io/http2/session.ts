import type { Duplex } from "node:stream";
import { Fault, fixedTimeouts, toFault } from "../../core/index.js";
import { Registry } from "../../stream/index.js";
import { broken } from "./broken.js";
import {
  ENABLE_PUSH,
  ENHANCE_YOUR_CALM,
  FIRST_WINDOW,
  frame,
  GOAWAY,
  HEADER_TABLE_SIZE,
  INITIAL_WINDOW_SIZE,
  INTERNAL_ERROR,
  LAST_STREAM,
  MAX_CONCURRENT_STREAMS,
  MAX_FRAME_SIZE,
  MAX_HEADER_LIST_SIZE,
  NO_ERROR,
  numbers,
  PING,
  PING_BYTES,
  PREFACE,
  REFUSED_STREAM,
  RST_STREAM,
  settings,
  WINDOW_UPDATE,
} from "./frames.js";
import { HpackEncoder } from "./hpack/index.js";
import { HEADER_BYTES } from "./hpack/limits.js";
import { type FrameListener, IncomingFrames } from "./incoming.js";
import { Sender } from "./sender.js";
import { ClientStream, type StreamSession } from "./stream.js";
import type { Http2ClientOptions, Http2ClientSession, Http2ClientStream, StreamEvents } from "./types.js";

/** Limit on the bytes of unread answers to a server that keeps asking. */
const REPLY_BYTES = 64 * 1024;

/** Anywire's own HTTP/2 client on a socket. */
export function http2Client(open: (read: (bytes: Uint8Array) => void) => Duplex, options: Http2ClientOptions): Http2ClientSession {
  return new Session(open, options);
}

class Session implements Http2ClientSession, FrameListener, StreamSession {
  readonly window: number;
  readonly streams: Registry<ClientStream> = new Registry();
  nextId = 1;
  readonly #options: Http2ClientOptions;
  readonly #leastWindow: number;
  readonly #socket: Duplex;
  readonly #incoming: IncomingFrames = new IncomingFrames(this);
  readonly #sender: Sender;
  readonly #encoder: HpackEncoder = new HpackEncoder();
  /** Requests that the server or the socket has no room for yet. */
  readonly #waiting = new Set<ClientStream>();
  readonly #pings: ((error: Error | null) => void)[] = [];
  #concurrent = Number.POSITIVE_INFINITY;
  #firstRoom = FIRST_WINDOW;
  #ready = false;
  #closed = false;
  #destroyed = false;
  #over = false;
  #error: Error | undefined;
  /** Runs while it waits for the server to close its side. */
  #linger: NodeJS.Timeout | undefined;

  constructor(open: (read: (bytes: Uint8Array) => void) => Duplex, options: Http2ClientOptions) {
    this.#options = options;
    this.window = options.window;
    this.#leastWindow = options.leastWindow ?? options.window;
    const socket = open(this.#read);
    this.#socket = socket;
    this.#sender = new Sender(socket, () => this.#admit());
    socket.on("error", this.#onError);
    socket.once("end", this.#onEnd);
    socket.once("close", this.#onClose);
    // A socket that closed before anybody listened emits no more events.
    if (socket.closed) {
      this.#error = socket.errored ?? undefined;
      process.nextTick(this.#onClose);
    } else if (socket.readableEnded) process.nextTick(this.#onEnd);
    this.#sender.frame(Buffer.from(PREFACE, "latin1"));
    this.#sender.frame(
      settings([
        [ENABLE_PUSH, 0],
        [INITIAL_WINDOW_SIZE, this.#leastWindow],
        [MAX_HEADER_LIST_SIZE, HEADER_BYTES],
      ]),
    );
    if (options.window > FIRST_WINDOW) this.credit(0, options.window - FIRST_WINDOW);
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

  request(headers: readonly string[], events: StreamEvents, window: number = this.window): Http2ClientStream {
    if (this.#closed) throw new Fault("unavailable", "the connection takes no more calls", { data: { reason: "closed" } });
    const stream = new ClientStream(headers, events, { carrier: this, window: Math.max(window, this.#leastWindow) });
    if (this.#waiting.size === 0 && this.#roomy) this.#open(stream);
    else this.#waiting.add(stream);
    return stream;
  }

  ping(done: (error: Error | null) => void): void {
    if (this.#destroyed) return done(this.#error ?? closedFault());
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
    this.#socket.destroy();
    this.#options.onLost(this.#error);
    const lost = this.#error ?? closedFault();
    const streams = [...this.streams.values(), ...this.#waiting];
    this.streams.clear();
    this.#waiting.clear();
    for (const stream of streams) stream.shut(stream.id === 0 ? REFUSED_STREAM : NO_ERROR, lost);
    for (const done of this.#pings.splice(0)) done(lost);
  }

  // Called by its streams.

  ready(stream: ClientStream): void {
    if (stream.id !== 0) this.#sender.ready(stream);
  }

  credit(id: number, bytes: number): void {
    this.#sender.frame(numbers(WINDOW_UPDATE, id, bytes));
  }

  forget(stream: ClientStream, code: number | undefined): void {
    if (stream.id === 0) this.#waiting.delete(stream);
    else if (this.streams.delete(stream.id)) {
      this.#sender.drop(stream);
      if (code !== undefined) this.#sender.frame(numbers(RST_STREAM, stream.id, code));
      this.#admit();
    }
    this.#idle();
  }

  // Called for frames of the server.

  /** If a server keeps asking and does not read the answers, the connection ends, because they would pile up here. */
  reply(bytes: Uint8Array): void {
    if (this.#sender.reply(bytes) > REPLY_BYTES) throw broken(ENHANCE_YOUR_CALM, "the server asks and does not read the answers");
  }

  grant(bytes: number): void {
    this.#sender.grant(bytes);
  }

  setting(name: number, value: number): void {
    switch (name) {
      case HEADER_TABLE_SIZE:
        this.#encoder.limit = value;
        return;
      case MAX_CONCURRENT_STREAMS:
        this.#concurrent = value;
        return;
      case INITIAL_WINDOW_SIZE: {
        const more = value - this.#firstRoom;
        this.#firstRoom = value;
        for (const stream of this.streams.values()) stream.shift(more);
        return;
      }
      case MAX_FRAME_SIZE:
        this.#sender.frameBytes = value;
    }
  }

  settled(): void {
    if (!this.#ready) {
      this.#ready = true;
      this.#options.onReady();
    }
    this.#admit();
  }

  pong(): void {
    this.#pings.shift()?.(null);
  }

  goaway(last: number, code: number, words: string): void {
    this.#closed = true;
    this.#options.onGoaway(code, words);
    const refused: ClientStream[] = [];
    for (const stream of this.streams.values()) if (stream.id > last) refused.push(stream);
    for (const stream of refused) {
      this.streams.delete(stream.id);
      this.#sender.drop(stream);
    }
    refused.push(...this.#waiting);
    this.#waiting.clear();
    const passed = last > 0 && this.nextId > 1;
    for (const stream of refused) stream.shut(REFUSED_STREAM, undefined, passed);
    this.#idle();
  }

  readonly #read = (bytes: Uint8Array): void => {
    if (this.#destroyed) return;
    this.#sender.held = true;
    try {
      this.#incoming.push(bytes);
    } catch (error) {
      this.#fail(toFault(error));
    } finally {
      this.#sender.held = false;
    }
  };

  get #roomy(): boolean {
    return this.streams.size < this.#concurrent && !this.#sender.clogged;
  }

  #open(stream: ClientStream): void {
    stream.id = this.nextId;
    stream.room = this.#firstRoom;
    this.nextId += 2;
    this.streams.set(stream.id, stream);
    this.#sender.headers(stream.id, this.#encoder.encode(stream.headers));
    if (stream.window > this.#leastWindow) this.credit(stream.id, stream.window - this.#leastWindow);
    if (stream.sendable) this.#sender.ready(stream);
    // A stream number cannot be reused, so further requests need another connection.
    if (this.nextId > LAST_STREAM) this.goaway(LAST_STREAM, NO_ERROR, "");
  }

  /** Sends waiting requests. */
  #admit(): void {
    for (const stream of this.#waiting) {
      if (!this.#roomy) return;
      this.#waiting.delete(stream);
      this.#open(stream);
    }
  }

  /** Closes the connection when nothing is left to do. */
  #idle(): void {
    if (!this.#closed || this.#destroyed || this.#linger !== undefined || this.streams.size > 0 || this.#waiting.size > 0) return;
    this.#sender.frame(numbers(GOAWAY, 0, 0, NO_ERROR));
    this.#sender.end();
    this.#linger = setTimeout(() => this.destroy(), fixedTimeouts.lingerMs);
  }

  /** The server violated the protocol: it is told how, and the connection ends. */
  #fail(fault: Fault): void {
    const code = (fault.data as { readonly http2?: number } | undefined)?.http2 ?? INTERNAL_ERROR;
    this.#sender.frame(numbers(GOAWAY, 0, 0, code));
    this.#sender.flush();
    this.destroy(fault);
  }

  readonly #onError = (error: Error): void => {
    this.destroy(error);
  };

  readonly #onEnd = (): void => {
    const expected = this.#linger !== undefined;
    this.destroy(expected ? undefined : new Fault("unavailable", "the server closed the connection", { data: { reason: "closed" } }));
  };

  readonly #onClose = (): void => {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#linger);
    this.destroy();
    this.#options.onClose();
  };
}

function closedFault(): Fault {
  return new Fault("unavailable", "the connection was closed", { data: { reason: "closed" } });
}
