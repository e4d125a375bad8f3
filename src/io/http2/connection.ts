import type { Writable } from "node:stream";
import { type Fault, toFault } from "../../core/index.js";
import { Registry } from "../../stream/index.js";
import {
  FIRST_WINDOW,
  GOAWAY,
  HEADER_TABLE_SIZE,
  INITIAL_WINDOW_SIZE,
  INTERNAL_ERROR,
  MAX_FRAME_SIZE,
  numbers,
  RST_STREAM,
  settings,
  WINDOW_UPDATE,
} from "./frames.js";
import { HpackEncoder } from "./hpack/index.js";
import { type FrameBounds, type FrameListener, IncomingFrames } from "./incoming.js";
import { Sender } from "./sender.js";
import type { Http2Stream, StreamSession } from "./stream.js";

export interface ConnectionOptions extends FrameBounds {
  /** Bytes that the peer may send ahead on the connection. */
  readonly window: number;
  /** Whether the peer is on this machine; `false` unless given. */
  readonly near?: boolean | undefined;
}

/** What the two ends of a connection have in common: streams, windows and settings. */
export abstract class Http2Connection<Stream extends Http2Stream, Socket extends Writable> implements FrameListener, StreamSession {
  abstract readonly serves: boolean;
  readonly window: number;
  readonly near: boolean;
  readonly streams: Registry<Stream> = new Registry();
  nextId = 1;
  readonly socket: Socket;
  protected readonly sender: Sender;
  protected readonly encoder: HpackEncoder = new HpackEncoder();
  /** Bytes that the peer accepts on a new stream. */
  protected firstRoom: number = FIRST_WINDOW;
  readonly #incoming: IncomingFrames;

  /** `open` makes the socket. Incoming bytes go to `read`. */
  constructor(open: (read: (bytes: Uint8Array) => void) => Socket, options: ConnectionOptions) {
    this.window = options.window;
    this.near = options.near === true;
    this.#incoming = new IncomingFrames(this, options);
    this.socket = open((bytes) => this.read(bytes));
    this.sender = new Sender(this.socket, () => this.drained());
  }

  abstract readonly destroyed: boolean;
  /** Closes the connection now. */
  abstract destroy(error?: Error): void;
  abstract forget(stream: Http2Stream, code: number | undefined): void;
  abstract reply(bytes: Uint8Array): void;
  abstract headers(id: number, headers: readonly string[], end: boolean): void;
  abstract settled(): void;
  abstract acknowledged(): void;
  abstract pong(): void;
  abstract goaway(last: number, code: number, words: string): void;
  /** The socket has room again. */
  protected abstract drained(): void;

  /** Begins with the settings. */
  protected greet(values: readonly (readonly [number, number])[]): void {
    this.sender.frame(settings(values));
    if (this.window > FIRST_WINDOW) this.credit(0, this.window - FIRST_WINDOW);
  }

  ready(stream: Http2Stream): void {
    if (stream.id !== 0) this.sender.ready(stream);
  }

  credit(id: number, bytes: number): void {
    this.sender.frame(numbers(WINDOW_UPDATE, id, bytes));
  }

  grant(bytes: number): void {
    this.sender.grant(bytes);
  }

  setting(name: number, value: number): void {
    if (name === HEADER_TABLE_SIZE) this.encoder.limit = value;
    else if (name === MAX_FRAME_SIZE) this.sender.frameBytes = value;
    else if (name === INITIAL_WINDOW_SIZE) {
      const more = value - this.firstRoom;
      this.firstRoom = value;
      for (const stream of this.streams.values()) stream.shift(more);
    }
  }

  protected read(bytes: Uint8Array): void {
    if (this.destroyed) return;
    this.sender.held = true;
    try {
      this.#incoming.push(bytes);
    } catch (error) {
      this.fail(toFault(error));
    } finally {
      this.sender.held = false;
    }
  }

  /** Removes a stream. With a code, the peer is told. Returns false if it was removed before. */
  protected remove(stream: Http2Stream, code: number | undefined): boolean {
    if (!this.streams.delete(stream.id)) return false;
    this.sender.drop(stream);
    if (code !== undefined) this.sender.frame(numbers(RST_STREAM, stream.id, code));
    return true;
  }

  /** The peer violated the protocol: it is told how, and the connection ends. */
  protected fail(fault: Fault): void {
    const code = (fault.data as { readonly http2?: number } | undefined)?.http2 ?? INTERNAL_ERROR;
    this.sender.frame(numbers(GOAWAY, 0, 0, code));
    this.sender.flush();
    this.destroy(fault);
  }
}
