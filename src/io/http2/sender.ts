import type { Writable } from "node:stream";
import { broken } from "./broken.js";
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  FIRST_WINDOW,
  FLOW_CONTROL_ERROR,
  FRAME_BYTES,
  frame,
  HEAD,
  HEADERS,
  LARGEST_WINDOW,
  writeHead,
} from "./frames.js";
import type { Http2Stream } from "./stream.js";

/** Bytes that may wait in the socket before streams wait for it. */
const HIGH_WATER = 256 * 1024;
/** This many bytes are written before the tick ends, so that the peer can begin while the rest is made. */
const ENOUGH = 4 * 1024;
/** From this size on bytes are written from their own buffer; smaller ones are copied together. */
const LARGE = 4 * 1024;
/** The longest frame, even if the peer accepts more, so that other streams have their turn. */
const LONGEST = 128 * 1024;

/** What a session sends: control frames at once, the data of its streams in turn and as far as the windows allow. */
export class Sender {
  /** Whether nothing is given to the socket for now: reading comes first, because some sockets deliver an answer at once. */
  held = false;
  readonly #socket: Writable;
  readonly #onDrain: () => void;
  /** HIGH_WATER, but not below the socket's own: under that the socket does not report that it is empty. */
  readonly #high: number;
  readonly #ready = new Set<Http2Stream>();
  #frameBytes = FRAME_BYTES;
  #room = FIRST_WINDOW;
  #out: Uint8Array[] = [];
  #outBytes = 0;
  /** Bytes of answers, in #out and in the socket. */
  #replies = 0;
  #unsent = 0;
  #scheduled = false;
  #pumping = false;
  #ending = false;

  constructor(socket: Writable, onDrain: () => void) {
    this.#socket = socket;
    this.#onDrain = onDrain;
    this.#high = Math.max(HIGH_WATER, socket.writableHighWaterMark);
    socket.on("drain", this.#drained);
  }

  /** Bytes of a frame that the peer accepts. */
  set frameBytes(bytes: number) {
    this.#frameBytes = Math.min(bytes, LONGEST);
  }

  /** Whether so much waits for the socket that not even requests should be added. `onDrain` is called when that is over. */
  get clogged(): boolean {
    return this.#socket.writableLength + this.#outBytes >= 2 * this.#high;
  }

  /** Sends a frame before all waiting data. */
  frame(bytes: Uint8Array): void {
    this.#out.push(bytes);
    this.#outBytes += bytes.length;
    this.#schedule();
  }

  /** Like frame(). Returns how many bytes sent like this the socket still holds. */
  reply(bytes: Uint8Array): number {
    this.#replies += bytes.length;
    this.frame(bytes);
    return this.#replies + this.#unsent;
  }

  /** Sends packed headers, copied, in as many frames as they need. `flags`: of the first. */
  headers(id: number, packed: Uint8Array, flags = 0): void {
    const first = packed.subarray(0, this.#frameBytes);
    let at = first.length;
    this.frame(frame(HEADERS, at === packed.length ? flags | END_HEADERS : flags, id, first));
    while (at < packed.length) {
      const next = packed.subarray(at, at + this.#frameBytes);
      at += next.length;
      this.frame(frame(CONTINUATION, at === packed.length ? END_HEADERS : 0, id, next));
    }
  }

  /** A stream has something to send, now or once there is room. */
  ready(stream: Http2Stream): void {
    if (stream.writableLength > 0) this.#ready.add(stream);
    // An end without data needs no room, so it does not wait behind the others.
    else if (stream.sendable) this.#send(stream);
    if (this.#outBytes + stream.writableLength >= ENOUGH && !this.held) this.#pump();
    else this.#schedule();
  }

  /** A stream has nothing more to send. */
  drop(stream: Http2Stream): void {
    this.#ready.delete(stream);
  }

  /** The peer accepts this many more bytes, over all streams. */
  grant(bytes: number): void {
    this.#room += bytes;
    if (this.#room > LARGEST_WINDOW) throw broken(FLOW_CONTROL_ERROR, "the server opened a window too far");
    this.#schedule();
  }

  /** Sends what waits, then the end. */
  end(): void {
    this.#ending = true;
    this.#schedule();
  }

  /** Gives everything to the socket. */
  flush(): void {
    const out = this.#out;
    if (out.length === 0) return;
    const bytes = this.#outBytes;
    const done = this.#replies === 0 ? undefined : this.#countReplies();
    this.#out = [];
    this.#outBytes = 0;
    const socket = this.#socket;
    if (!socket.writable) return;
    if (out.length === 1) socket.write(out[0], done);
    else if (bytes <= LARGE * 4) socket.write(Buffer.concat(out, bytes), done);
    else {
      const joined = joinSmall(out);
      const last = joined.length - 1;
      socket.cork();
      for (let at = 0; at < last; at++) socket.write(joined[at]);
      socket.write(joined[last], done);
      socket.uncork();
    }
  }

  #countReplies(): () => void {
    const bytes = this.#replies;
    this.#replies = 0;
    this.#unsent += bytes;
    return () => {
      this.#unsent -= bytes;
    };
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(this.#pump);
  }

  readonly #drained = (): void => {
    this.#onDrain();
    this.#pump();
  };

  readonly #pump = (): void => {
    // The loop that is already running handles what the end of a stream triggers.
    if (this.#pumping) return;
    this.#scheduled = false;
    this.#pumping = true;
    try {
      for (const stream of this.#ready) {
        if (this.#socket.writableLength + this.#outBytes >= this.#high) break;
        const sendable = stream.sendable;
        if (sendable && this.#room === 0) break;
        // A stream with more than fits in a frame comes back behind the others.
        this.#ready.delete(stream);
        if (sendable) this.#send(stream);
      }
    } finally {
      this.#pumping = false;
    }
    this.flush();
    if (this.#ending && this.#ready.size === 0) this.#socket.end();
  };

  #send(stream: Http2Stream): void {
    const waiting = stream.writableLength;
    // A window may be below zero. An end without data can still be sent.
    const length = waiting === 0 ? 0 : Math.min(waiting, stream.room, this.#room, this.#frameBytes);
    const head = Buffer.allocUnsafe(HEAD);
    this.#out.push(head);
    this.#outBytes += HEAD + length;
    this.#room -= length;
    stream.take(length, this.#out);
    const end = stream.finished;
    writeHead(head, length, DATA, end ? END_STREAM : 0, stream.id);
    stream.tell();
    if (end) stream.sentEnd();
    else if (stream.sendable) this.#ready.add(stream);
  }
}

/** The same bytes, with small ones that follow each other copied together. */
function joinSmall(list: readonly Uint8Array[]): readonly Uint8Array[] {
  const joined: Uint8Array[] = [];
  for (let at = 0, from = 0; from < list.length; from = at) {
    for (at = from; at < list.length && (list[at] as Uint8Array).length < LARGE; ) at++;
    if (at > from + 1) joined.push(Buffer.concat(list.slice(from, at)));
    else joined.push(list[from] as Uint8Array);
    if (at === from) at++;
  }
  return joined;
}
