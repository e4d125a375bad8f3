import type { IncomingHttpHeaders } from "node:http2";
import { broken } from "./broken.js";
import { CANCEL, FLOW_CONTROL_ERROR, LARGEST_WINDOW, NO_ERROR, PROTOCOL_ERROR } from "./frames.js";
import type { Http2ClientStream, StreamEvents } from "./types.js";

/** What a stream needs of its session. */
export interface Carrier {
  readonly window: number;
  /** It has something to send. */
  ready(stream: ClientStream): void;
  /** The server may send so much more on it. */
  credit(id: number, bytes: number): void;
  /** It is over; with a code, the server has to hear of that. */
  forget(stream: ClientStream, code: number | undefined): void;
}

interface Piece {
  readonly bytes: Uint8Array;
  readonly done: (() => void) | undefined;
}

/** One request, as the session sees it and as its caller does. */
export class ClientStream implements Http2ClientStream {
  /** None until it is sent. */
  id = 0;
  readonly headers: readonly string[];
  /** Bytes that the server takes now; below zero after it made its window smaller. */
  room = 0;
  /** Whether it waits for its turn to send. */
  queued = false;
  readonly #carrier: Carrier;
  readonly #events: StreamEvents;
  #pieces: Piece[] = [];
  #first = 0;
  /** What of the first piece was sent. */
  #sent = 0;
  #length = 0;
  #ending = false;
  #ended = false;
  #answered = false;
  #over = false;
  #closed = false;
  #paused = false;
  /** Bytes that came and the server does not know to be taken. */
  #owed = 0;

  constructor(headers: readonly string[], events: StreamEvents, carrier: Carrier) {
    this.headers = headers;
    this.#events = events;
    this.#carrier = carrier;
  }

  get writable(): boolean {
    return !this.#ending && !this.#closed;
  }

  get writableLength(): number {
    return this.#length;
  }

  write(bytes: Uint8Array, done?: () => void): void {
    if (!this.writable || bytes.length === 0) return;
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

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#credit();
  }

  destroy(): void {
    this.#reset(CANCEL);
  }

  #reset(code: number): void {
    if (this.#closed) return;
    this.#carrier.forget(this, code);
    this.shut(code, undefined);
  }

  /** Whether it could send now: its window does not count for an end alone. */
  get sendable(): boolean {
    return !this.#closed && (this.#length > 0 ? this.room > 0 : this.#ending && !this.#ended);
  }

  /** Whether what was taken last is the last there is. */
  get finished(): boolean {
    return this.#ending && this.#length === 0;
  }

  /** Moves up to `max` bytes out. */
  take(max: number, out: Uint8Array[]): void {
    let left = max;
    this.room -= max;
    this.#length -= max;
    while (left > 0) {
      const { bytes, done } = this.#pieces[this.#first] as Piece;
      const to = Math.min(bytes.length, this.#sent + left);
      out.push(this.#sent === 0 && to === bytes.length ? bytes : bytes.subarray(this.#sent, to));
      left -= to - this.#sent;
      this.#sent = to;
      if (to < bytes.length) return;
      this.#sent = 0;
      this.#first++;
      done?.();
    }
    if (this.#first < this.#pieces.length) return;
    this.#pieces = [];
    this.#first = 0;
  }

  /** The end was sent. */
  sentEnd(): void {
    this.#ended = true;
    if (this.#over) this.#close(NO_ERROR);
  }

  grant(bytes: number): void {
    this.room += bytes;
    if (this.room > LARGEST_WINDOW) throw broken(FLOW_CONTROL_ERROR, "the server opened a window too far");
    if (this.sendable) this.#carrier.ready(this);
  }

  /** A frame of data begins. */
  count(bytes: number): void {
    if (this.#over) throw broken(PROTOCOL_ERROR, "the server sent data after the end of a stream");
    this.#owed += bytes;
    if (this.#owed > this.#carrier.window) throw broken(FLOW_CONTROL_ERROR, "the server sent more than it may");
  }

  data(bytes: Uint8Array): void {
    if (this.#closed) return;
    if (!this.#answered) this.#reset(PROTOCOL_ERROR);
    else this.#events.onData(bytes);
  }

  /** A frame of data has ended. */
  dataEnd(end: boolean): void {
    if (end) this.#finish();
    else this.#credit();
  }

  headersCame(raw: readonly string[], end: boolean): void {
    if (this.#closed) return;
    const headers = fieldsOf(raw);
    if (headers === undefined) return this.#reset(PROTOCOL_ERROR);
    if (this.#answered) {
      // What is no last word cannot be trailers.
      if (!end || headers[":status"] !== undefined) return this.#reset(PROTOCOL_ERROR);
      this.#events.onTrailers(headers, raw);
    } else {
      const status = String(headers[":status"]);
      if (!/^[1-9]\d\d$/.test(status)) return this.#reset(PROTOCOL_ERROR);
      if (status.startsWith("1")) return end ? this.#reset(PROTOCOL_ERROR) : undefined;
      this.#answered = true;
      this.#events.onResponse(headers, raw);
    }
    if (end) this.#finish();
  }

  /** The server reset it. */
  resetCame(code: number): void {
    this.#close(code);
  }

  /** It is over, once. */
  shut(code: number, lost: Error | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pieces = [];
    this.#length = 0;
    this.#events.onClose(code, lost);
  }

  #finish(): void {
    if (this.#over || this.#closed) return;
    this.#over = true;
    this.#events.onEnd();
    if (this.#ended && !this.#closed) this.#close(NO_ERROR);
  }

  #close(code: number): void {
    this.#carrier.forget(this, undefined);
    this.shut(code, undefined);
  }

  /** Half a window at a time: one update for many frames, and never too late. */
  #credit(): void {
    if (this.#paused || this.#over || this.#closed || this.#owed < this.#carrier.window / 2) return;
    const owed = this.#owed;
    this.#owed = 0;
    this.#carrier.credit(this.id, owed);
  }
}

/** Headers by name, repeated ones joined; undefined where they break HTTP/2. */
function fieldsOf(raw: readonly string[]): IncomingHttpHeaders | undefined {
  const fields: Record<string, string> = Object.create(null);
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (name.startsWith(":")) return undefined;
    else fields[name] = `${before}, ${value}`;
    if (/[A-Z\s]/.test(name)) return undefined;
  }
  return fields;
}
