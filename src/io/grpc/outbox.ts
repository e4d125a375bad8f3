import { type Account, Fault, type Held, LITTLE_BYTES, toFault } from "../../core/index.js";
import { type Deferred, deferred, rejected } from "../../stream/index.js";
import { compress, type MessageCoding, WORTH } from "./coding.js";

/** Bytes that wait to be written before send() makes its caller wait. */
const HIGH_WATER = 512 * 1024;
/** From this size on a message is written from its own buffer; smaller ones are copied together. */
const LARGE = 32 * 1024;
/**
 * This many bytes are written before the tick ends. Otherwise the peer would be idle until the last message is made, and we until it has
 * read them all. It doubles with each further write of the tick, because a write costs as much as some messages.
 */
const EARLY = 768;
const PREFIX = 5;
/** The most bytes that are kept to be sent again if the server refuses the stream. */
const REPLAY = 64 * 1024;

/** The destination of a call's bytes: an HTTP/2 stream. */
export interface ByteSink {
  readonly writable: boolean;
  readonly writableLength: number;
  write(bytes: Uint8Array, done?: () => void): unknown;
  end(bytes?: Uint8Array): unknown;
  cork?(): void;
  uncork?(): void;
  destroy(error: Error): unknown;
}

/** The outgoing half of a call: takes messages, and makes few writes of them. */
export class Outbox {
  #stream: ByteSink | undefined;
  #encoding: MessageCoding = "identity";
  #queue: Uint8Array[] = [];
  /** Bytes of the queue, with prefixes. */
  #queued = 0;
  /** Which messages of the queue are compressed. */
  #marked: Set<Uint8Array> | undefined;
  /** The rest of some small messages of the queue. */
  #tails: Map<Uint8Array, Uint8Array> | undefined;
  /** Messages that wait to be compressed. Once one does, all that follow wait behind it. */
  #raw: Uint8Array[] = [];
  #rawBytes = 0;
  #compressing = false;
  #scheduled = false;
  #early = EARLY;
  #ending = false;
  #room: Deferred | undefined;
  /** When this few bytes are left, senders that wait for room continue. */
  #enough = 0;
  #gone: (() => Fault) | undefined;
  /** What was written, as long as it may have to be written again and is not too much. */
  #log: Uint8Array[] | undefined;
  #logged = 0;
  readonly #account: Account | undefined;
  readonly #held: Held | undefined;

  /** Counts what waits, if there is an account. */
  constructor({ replay = false, account }: { readonly replay?: boolean; readonly account?: Account } = {}) {
    if (replay) this.#log = [];
    this.#account = account;
    this.#held = account?.outgoing();
  }

  get backlog(): number {
    return this.#queued + this.#rawBytes + (this.#stream?.writableLength ?? 0);
  }

  /** Counts what it holds for this principal, once it is known. */
  claim(principal: string): void {
    this.#held?.claim(principal);
  }

  set encoding(encoding: MessageCoding) {
    this.#encoding = encoding;
  }

  /** Begins to write. */
  open(stream: ByteSink): void {
    this.#stream = stream;
    if (this.#ending) this.#finish();
    else this.#flush();
  }

  send(message: Uint8Array, tail?: Uint8Array, usual: number = HIGH_WATER): Promise<void> | undefined {
    if (tail !== undefined) {
      const apart = tail.length >= LARGE && message.length < LARGE && this.#encoding === "identity" && this.#log === undefined;
      if (!apart) return this.send(Buffer.concat([message, tail]), undefined, usual);
      (this.#tails ??= new Map()).set(message, tail);
    }
    if (this.#gone !== undefined) return rejected(this.#gone());
    if (this.#ending) return rejected(new Fault("internal", "the call takes no messages after its end"));
    if (this.#encoding !== "identity" && (message.length >= WORTH || this.#raw.length > 0 || this.#compressing)) {
      this.#raw.push(message);
      this.#rawBytes += message.length;
      void this.#compress();
    } else {
      this.#add(message);
    }
    const { backlog } = this;
    if (this.#held !== undefined && backlog > LITTLE_BYTES) this.#held.set(backlog);
    // If the connection or the process holds as much as it may, every sender waits until its data is written.
    const most = this.#account?.full === true ? 1 : usual;
    if (backlog < most) return undefined;
    this.#flush();
    if (this.backlog < most) return undefined;
    this.#room ??= deferred();
    // Leaves enough to keep the connection busy while the next messages are made.
    this.#enough = Math.floor(most / 2);
    return this.#room.promise;
  }

  /** The stream failed: prepares to write everything again to another. False if that is not possible. */
  rewind(): boolean {
    const log = this.#log;
    if (log === undefined || this.#gone !== undefined) return false;
    this.#stream = undefined;
    this.#queue = log.concat(this.#queue);
    this.#queued += this.#logged;
    this.#log = [];
    this.#logged = 0;
    return true;
  }

  /** Called when nothing will have to be written again. */
  forget(): void {
    this.#log = undefined;
  }

  /** Writes what waits, and ends the stream. */
  end(): void {
    if (this.#ending || this.#gone !== undefined) return;
    this.#ending = true;
    this.#finish();
  }

  /** Drops what waits. The first reason is kept. It is created only on demand, because most calls end well. */
  fail(reason: () => Fault): void {
    this.#gone ??= reason;
    this.#queue = [];
    this.#tails = undefined;
    this.#raw = [];
    this.#queued = this.#rawBytes = 0;
    this.#log = undefined;
    this.#held?.free();
    this.#room?.reject(this.#gone());
    this.#room = undefined;
  }

  #add(message: Uint8Array): void {
    this.#queue.push(message);
    this.#queued += PREFIX + message.length + (this.#tails?.get(message)?.length ?? 0);
    if (!this.#scheduled) {
      this.#scheduled = true;
      process.nextTick(this.#tick);
    }
    if (this.#queued < this.#early) return;
    this.#early *= 2;
    this.#flush();
  }

  readonly #tick = (): void => {
    this.#scheduled = false;
    this.#early = EARLY;
    this.#flush();
  };

  #flush(): void {
    const stream = this.#stream;
    if (this.#queued === 0 || stream === undefined || !stream.writable) return;
    const pieces = this.#pack();
    if (pieces.length === 1) {
      stream.write(pieces[0] as Uint8Array, this.#written);
      return;
    }
    stream.cork?.();
    for (const piece of pieces) stream.write(piece, this.#written);
    stream.uncork?.();
  }

  #finish(): void {
    const stream = this.#stream;
    if (stream === undefined || !stream.writable || this.#compressing) return;
    if (this.#queued === 0) {
      stream.end();
      return;
    }
    const pieces = this.#pack();
    const last = pieces.pop();
    if (pieces.length > 0) stream.cork?.();
    for (const piece of pieces) stream.write(piece);
    stream.end(last);
    if (pieces.length > 0) stream.uncork?.();
  }

  /** The queue as bytes: small messages and prefixes copied together, large messages as they are. */
  #pack(): Uint8Array[] {
    const queue = this.#queue;
    const marked = this.#marked;
    let left = this.#queued;
    const tails = this.#tails;
    for (const message of queue) {
      if (message.length >= LARGE) left -= message.length;
      else if (tails !== undefined) left -= tails.get(message)?.length ?? 0;
    }
    const packed = Buffer.allocUnsafe(left);
    const pieces: Uint8Array[] = [];
    let at = 0;
    let from = 0;
    for (const message of queue) {
      const tail = tails?.get(message);
      const length = message.length + (tail?.length ?? 0);
      packed[at] = marked?.has(message) === true ? 1 : 0;
      packed[at + 1] = length >>> 24;
      packed[at + 2] = length >>> 16;
      packed[at + 3] = length >>> 8;
      packed[at + 4] = length;
      at += PREFIX;
      if (message.length >= LARGE) {
        pieces.push(packed.subarray(from, at), message);
        from = at;
      } else {
        packed.set(message, at);
        at += message.length;
        if (tail !== undefined) {
          pieces.push(packed.subarray(from, at), tail);
          from = at;
        }
      }
    }
    if (at > from) pieces.push(packed.subarray(from, at));
    this.#keep();
    return pieces;
  }

  /** Empties the queue that was written. */
  #keep(): void {
    if (this.#log === undefined) {
      this.#marked?.clear();
    } else if ((this.#logged += this.#queued) > REPLAY) {
      this.#log = undefined;
    } else {
      for (const message of this.#queue) this.#log.push(message);
    }
    this.#queue = [];
    this.#queued = 0;
    this.#tails = undefined;
  }

  readonly #written = (): void => {
    if (this.#held !== undefined && this.#held.bytes > 0) this.#held.set(this.backlog);
    if (this.#room === undefined || this.backlog > this.#enough) return;
    this.#room.resolve();
    this.#room = undefined;
  };

  async #compress(): Promise<void> {
    if (this.#compressing) return;
    this.#compressing = true;
    for (;;) {
      const message = this.#raw.shift();
      if (message === undefined) break;
      try {
        const smaller = message.length >= WORTH ? await compress(this.#encoding, message) : undefined;
        if (this.#gone !== undefined) break;
        this.#rawBytes -= message.length;
        if (smaller !== undefined) (this.#marked ??= new Set()).add(smaller);
        this.#add(smaller ?? message);
      } catch (error) {
        const fault = toFault(error);
        this.fail(() => fault);
        this.#stream?.destroy(fault);
        break;
      }
    }
    this.#compressing = false;
    if (this.#gone !== undefined) return;
    this.#written();
    if (this.#ending) this.#finish();
  }
}
