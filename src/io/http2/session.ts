import type { Duplex } from "node:stream";
import { Fault, fixedTimeouts } from "../../core/index.js";
import { broken } from "./broken.js";
import { ClientStream } from "./client-stream.js";
import { Http2Connection } from "./connection.js";
import {
  ENABLE_PUSH,
  ENHANCE_YOUR_CALM,
  FRAME_BYTES,
  frame,
  GOAWAY,
  INITIAL_WINDOW_SIZE,
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
} from "./frames.js";
import { HEADER_BYTES } from "./hpack/limits.js";
import { Resets } from "./resets.js";
import type { Http2Stream } from "./stream.js";
import type { Http2ClientOptions, Http2ClientSession, Http2ClientStream, StreamEvents } from "./types.js";

/** Limit on the bytes of unread answers to a server that keeps asking. */
const REPLY_BYTES = 64 * 1024;

/** Anywire's own HTTP/2 client on a socket. */
export function http2Client(open: (read: (bytes: Uint8Array) => void) => Duplex, options: Http2ClientOptions): Http2ClientSession {
  return new Session(open, options);
}

class Session extends Http2Connection<ClientStream, Duplex> implements Http2ClientSession {
  readonly serves = false;
  readonly #options: Http2ClientOptions;
  readonly #leastWindow: number;
  /** Requests that the server or the socket has no room for yet. */
  readonly #waiting = new Set<ClientStream>();
  readonly #pings: ((error: Error | null) => void)[] = [];
  #concurrent = Number.POSITIVE_INFINITY;
  readonly #resets: Resets = new Resets(
    (bytes) => this.sender.frame(bytes),
    () => this.#admit(),
  );
  #ready = false;
  #closed = false;
  #destroyed = false;
  #over = false;
  #error: Error | undefined;
  /** Runs while it waits for the server to close its side. */
  #linger: NodeJS.Timeout | undefined;

  constructor(open: (read: (bytes: Uint8Array) => void) => Duplex, options: Http2ClientOptions) {
    super(open, { window: options.window, near: options.near, frameBytes: options.frameBytes, listBytes: HEADER_BYTES });
    this.#options = options;
    this.#leastWindow = options.leastWindow ?? options.window;
    const { socket } = this;
    socket.on("error", this.#onError);
    socket.once("end", this.#onEnd);
    socket.once("close", this.#onClose);
    // A socket that closed before anybody listened emits no more events.
    if (socket.closed) {
      this.#error = socket.errored ?? undefined;
      process.nextTick(this.#onClose);
    } else if (socket.readableEnded) process.nextTick(this.#onEnd);
    this.sender.frame(Buffer.from(PREFACE, "latin1"));
    this.greet([
      [ENABLE_PUSH, 0],
      [INITIAL_WINDOW_SIZE, this.#leastWindow],
      [MAX_HEADER_LIST_SIZE, HEADER_BYTES],
      [MAX_FRAME_SIZE, options.frameBytes ?? FRAME_BYTES],
    ]);
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
    this.sender.frame(frame(PING, 0, 0, new Uint8Array(PING_BYTES)));
  }

  close(): void {
    this.#closed = true;
    this.#idle();
  }

  destroy(error?: Error): void {
    if (this.#destroyed) return;
    this.#destroyed = this.#closed = true;
    this.#error ??= error;
    this.#resets.stop();
    this.socket.destroy();
    this.#options.onLost(this.#error);
    const lost = this.#error ?? closedFault();
    const streams = [...this.streams.values(), ...this.#waiting];
    this.streams.clear();
    this.#waiting.clear();
    for (const stream of streams) stream.shut(stream.id === 0 ? REFUSED_STREAM : NO_ERROR, lost);
    for (const done of this.#pings.splice(0)) done(lost);
  }

  forget(stream: Http2Stream, code: number | undefined): void {
    if (stream.id === 0) this.#waiting.delete(stream as ClientStream);
    else if (this.remove(stream, code)) {
      if (code !== undefined && this.streams.size + 1 + this.#resets.unread >= this.#concurrent) this.#resets.add();
      this.#admit();
    }
    this.#idle();
  }

  // Called for frames of the server.

  /** If a server keeps asking and does not read the answers, the connection ends, because they would pile up here. */
  reply(bytes: Uint8Array): void {
    if (this.sender.reply(bytes) > REPLY_BYTES) throw broken(ENHANCE_YOUR_CALM, "the server asks and does not read the answers");
  }

  headers(id: number, headers: readonly string[], end: boolean): void {
    this.streams.get(id)?.headersCame(headers, end);
  }

  override setting(name: number, value: number): void {
    if (name === MAX_CONCURRENT_STREAMS) this.#concurrent = value;
    else super.setting(name, value);
  }

  settled(): void {
    if (!this.#ready) {
      this.#ready = true;
      this.#options.onReady();
    }
    this.#admit();
    this.#options.onSettings?.();
  }

  acknowledged(): void {
    this.#resets.acknowledged();
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
      this.sender.drop(stream);
    }
    refused.push(...this.#waiting);
    this.#waiting.clear();
    const passed = last > 0 && this.nextId > 1;
    for (const stream of refused) stream.shut(REFUSED_STREAM, undefined, passed);
    this.#idle();
  }

  protected override drained(): void {
    this.#admit();
  }

  get #roomy(): boolean {
    return this.streams.size + this.#resets.unread < this.#concurrent && !this.sender.clogged;
  }

  #open(stream: ClientStream): void {
    stream.id = this.nextId;
    stream.room = this.firstRoom;
    this.nextId += 2;
    this.streams.set(stream.id, stream);
    this.sender.headers(stream.id, this.encoder.encode(stream.headers));
    if (stream.window > this.#leastWindow) this.credit(stream.id, stream.window - this.#leastWindow);
    if (stream.sendable) this.sender.ready(stream);
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
    this.sender.frame(numbers(GOAWAY, 0, 0, NO_ERROR));
    this.sender.end();
    this.#linger = setTimeout(() => this.destroy(), fixedTimeouts.lingerMs);
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
