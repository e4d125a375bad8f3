import { creditStep } from "./bounds.js";
import { broken } from "./broken.js";
import { CANCEL, FLOW_CONTROL_ERROR, LARGEST_WINDOW, NO_ERROR, PROTOCOL_ERROR, STREAM_CLOSED } from "./frames.js";

/** What a stream needs from its session. */
export interface StreamSession {
  /** Whether the peer is on this machine. */
  readonly near: boolean;
  /** The stream has something to send. */
  ready(stream: Http2Stream): void;
  /** Lets the peer send this many more bytes on the stream. */
  credit(id: number, bytes: number): void;
  /** The stream is over. With a code, the peer has to be told. */
  forget(stream: Http2Stream, code: number | undefined): void;
}

interface Piece {
  readonly bytes: Uint8Array;
  readonly done: (() => void) | undefined;
}

const spent: Piece = { bytes: new Uint8Array(0), done: undefined };
/** Sent pieces that may stay in the list before it is cut. */
const SPENT = 64;

/** What the two ends of a stream have in common: data that is sent and that arrives, and the windows for it. */
export abstract class Http2Stream {
  /** 0 until it is sent. */
  id = 0;
  /** Bytes that the peer accepts now. Below zero after the peer has reduced its window. */
  room = 0;
  readonly #carrier: StreamSession;
  #pieces: Piece[] = [];
  #first = 0;
  /** The index of the first piece whose `done` was not called yet. */
  #told = 0;
  /** The bytes of the first piece that were sent. */
  #sent = 0;
  #length = 0;
  #ending = false;
  #ended = false;
  #over = false;
  #closed = false;
  #paused = false;
  /** Bytes that have arrived and were not credited to the peer yet. */
  #owed = 0;
  #window: number;

  constructor(carrier: StreamSession, window: number) {
    this.#carrier = carrier;
    this.#window = window;
  }

  /** Receives data. The bytes are reused after the call. */
  protected abstract onData(bytes: Uint8Array): void;
  /** The peer sends no more. */
  protected abstract onEnd(): void;
  /** The stream is over on both sides; called once, and nothing after it. */
  protected abstract onClose(code: number, error: Error | undefined, passed: boolean): void;
  /** Headers after those that the stream began with. */
  abstract headersCame(raw: readonly string[], end: boolean): void;

  /** Whether the peer has sent its end. */
  get over(): boolean {
    return this.#over;
  }

  /** Whether the end was sent. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Bytes that the peer may send ahead. */
  get window(): number {
    return this.#window;
  }

  get writable(): boolean {
    return !this.#ending && !this.#closed;
  }

  get writableLength(): number {
    return this.#length;
  }

  write(bytes: Uint8Array, done?: () => void): void {
    if (!this.writable) return;
    if (bytes.length === 0) return done?.();
    this.#pieces.push({ bytes, done });
    this.#length += bytes.length;
    this.#carrier.ready(this);
  }

  end(bytes?: Uint8Array): void {
    if (!this.writable) return;
    if (bytes !== undefined && bytes.length > 0) {
      this.#pieces.push({ bytes, done: undefined });
      this.#length += bytes.length;
    }
    this.#ending = true;
    this.#carrier.ready(this);
  }

  widen(window: number): void {
    const more = window - this.#window;
    if (more <= 0 || this.#over || this.#closed) return;
    this.#window = window;
    // A stream that waits is told so when it opens.
    if (this.id !== 0) this.#carrier.credit(this.id, more);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#credit();
  }

  destroy(): void {
    this.reset(CANCEL);
  }

  /** The peer violated HTTP/2 on this stream only, and is told how. */
  fault(code: number, message: string): void {
    this.reset(code, broken(code, message));
  }

  reset(code: number, error?: Error): void {
    if (this.#closed) return;
    this.#carrier.forget(this, this.#over && this.#ended ? undefined : code);
    this.shut(code, error);
  }

  /** Whether it could send now. An end without data needs no window. */
  get sendable(): boolean {
    return !this.#closed && (this.#length > 0 ? this.room > 0 : this.#ending && !this.#ended);
  }

  /** Whether what was taken last is the end. */
  get finished(): boolean {
    return this.#ending && this.#length === 0;
  }

  /** Moves `bytes` out. Call tell() afterwards. */
  take(bytes: number, out: Uint8Array[]): void {
    let left = bytes;
    this.room -= bytes;
    this.#length -= bytes;
    while (left > 0) {
      const piece = (this.#pieces[this.#first] as Piece).bytes;
      const to = Math.min(piece.length, this.#sent + left);
      out.push(this.#sent === 0 && to === piece.length ? piece : piece.subarray(this.#sent, to));
      left -= to - this.#sent;
      this.#sent = to;
      if (to < piece.length) return;
      this.#sent = 0;
      this.#first++;
    }
  }

  /** Calls `done` of the pieces that were taken. This is separate because they may write more, or end the stream. */
  tell(): void {
    while (this.#told < this.#first) {
      const piece = this.#pieces[this.#told] as Piece;
      // A stream that never runs dry keeps its list, but not the pieces.
      this.#pieces[this.#told++] = spent;
      piece.done?.();
    }
    if (this.#first === this.#pieces.length) this.#pieces = [];
    else if (this.#first < SPENT) return;
    else this.#pieces.splice(0, this.#first);
    this.#first = this.#told = 0;
  }

  /** Called when the end was sent. */
  sentEnd(): void {
    this.#ending = this.#ended = true;
    if (this.#over) this.#close(NO_ERROR);
  }

  /** The peer has changed its window for every stream. */
  shift(bytes: number): void {
    this.room += bytes;
    if (this.room > LARGEST_WINDOW) throw broken(FLOW_CONTROL_ERROR, "the server opened a window too far");
    if (this.sendable) this.#carrier.ready(this);
  }

  /** The peer accepts more on this stream. */
  grant(bytes: number): void {
    if (bytes === 0) return this.fault(PROTOCOL_ERROR, "the server opened a window by nothing");
    if (this.room + bytes > LARGEST_WINDOW) return this.fault(FLOW_CONTROL_ERROR, "the server opened a window too far");
    this.shift(bytes);
  }

  /** A frame of data begins. */
  count(bytes: number): void {
    if (this.#over) return this.fault(STREAM_CLOSED, "the server sent data after the end of a stream");
    this.#owed += bytes;
    if (this.#owed > this.#window) this.fault(FLOW_CONTROL_ERROR, "the server sent more than it may");
  }

  data(bytes: Uint8Array): void {
    if (!this.#closed) this.onData(bytes);
  }

  /** A frame of data has ended. */
  dataEnd(end: boolean): void {
    if (end) this.finish();
    else this.#credit();
  }

  /** The peer reset it. */
  resetCame(code: number): void {
    this.#close(code);
  }

  /** Ends the stream, once. */
  shut(code: number, error: Error | undefined, passed = false): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pieces = [];
    this.#first = this.#told = 0;
    this.#length = 0;
    this.onClose(code, error, passed);
  }

  /** The peer has sent its end. */
  protected finish(): void {
    if (this.#over || this.#closed) return;
    this.#over = true;
    this.onEnd();
    if (this.#ended && !this.#closed) this.#close(NO_ERROR);
  }

  #close(code: number): void {
    this.#carrier.forget(this, undefined);
    this.shut(code, undefined);
  }

  /** One update for many frames. */
  #credit(): void {
    if (this.#paused || this.#over || this.#closed || this.#owed < creditStep(this.#window, this.#carrier.near)) return;
    const owed = this.#owed;
    this.#owed = 0;
    this.#carrier.credit(this.id, owed);
  }
}
