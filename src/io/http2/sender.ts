import type { Duplex } from "node:stream";
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
import type { ClientStream } from "./stream.js";

/** Bytes that may wait in the socket before streams wait for it. */
const HIGH_WATER = 256 * 1024;
/** Bytes that are written before the tick is over: the server can begin with them while the rest is made. */
const ENOUGH = 4 * 1024;
/** From this size on bytes are written from where they lie; smaller ones are copied together. */
const LARGE = 4 * 1024;

/** What a client sends: control frames as they come, the data of its streams in turn and as far as the windows reach. */
export class Sender {
  /** Bytes of a frame that the server takes. */
  frameBytes: number = FRAME_BYTES;
  readonly #socket: Duplex;
  readonly #ready: ClientStream[] = [];
  #first = 0;
  #room = FIRST_WINDOW;
  #out: Uint8Array[] = [];
  #outBytes = 0;
  #replies = 0;
  #scheduled = false;
  #ending = false;

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on("drain", this.#pump);
  }

  /** Sends a frame ahead of all data that waits. */
  frame(bytes: Uint8Array): void {
    this.#out.push(bytes);
    this.#outBytes += bytes.length;
    this.#schedule();
  }

  /** As frame(); tells how many bytes were sent so since the socket was last empty. */
  reply(bytes: Uint8Array): number {
    if (this.#socket.writableLength === 0) this.#replies = 0;
    this.frame(bytes);
    return (this.#replies += bytes.length);
  }

  /** The packed headers of a request, copied, in as many frames as they need. */
  headers(id: number, packed: Uint8Array): void {
    const first = packed.subarray(0, this.frameBytes);
    let at = first.length;
    this.frame(frame(HEADERS, at === packed.length ? END_HEADERS : 0, id, first));
    while (at < packed.length) {
      const next = packed.subarray(at, at + this.frameBytes);
      at += next.length;
      this.frame(frame(CONTINUATION, at === packed.length ? END_HEADERS : 0, id, next));
    }
  }

  /** A stream has something to send, now or once there is room. */
  ready(stream: ClientStream): void {
    if (!stream.queued) this.#queue(stream);
    if (this.#outBytes + stream.writableLength >= ENOUGH) this.#pump();
    else this.#schedule();
  }

  /** The server takes so much more, of all streams together. */
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

  /** Gives what there is to the socket. */
  flush(): void {
    const out = this.#out;
    if (out.length === 0) return;
    const bytes = this.#outBytes;
    this.#out = [];
    this.#outBytes = 0;
    const socket = this.#socket;
    if (!socket.writable) return;
    if (out.length === 1) socket.write(out[0]);
    else if (bytes <= LARGE * 4) socket.write(Buffer.concat(out, bytes));
    else {
      socket.cork();
      for (const each of out) socket.write(each);
      socket.uncork();
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(this.#pump);
  }

  readonly #pump = (): void => {
    this.#scheduled = false;
    while (this.#first < this.#ready.length && this.#socket.writableLength + this.#outBytes < HIGH_WATER) {
      const stream = this.#ready[this.#first] as ClientStream;
      // Nothing goes, not even ends that need no room: they would overtake what was taken before them.
      if (stream.sendable && stream.writableLength > 0 && this.#room === 0) break;
      this.#first++;
      stream.queued = false;
      if (stream.sendable) this.#send(stream);
    }
    this.#compact();
    this.flush();
    if (this.#ending && this.#first === this.#ready.length) this.#socket.end();
  };

  #send(stream: ClientStream): void {
    const length = Math.min(stream.writableLength, stream.room, this.#room, this.frameBytes);
    const head = Buffer.allocUnsafe(HEAD);
    this.#out.push(head);
    this.#outBytes += HEAD + length;
    this.#room -= length;
    stream.take(length, this.#out);
    const end = stream.finished;
    writeHead(head, length, DATA, end ? END_STREAM : 0, stream.id);
    if (end) stream.sentEnd();
    else if (stream.sendable) this.#queue(stream);
  }

  #queue(stream: ClientStream): void {
    stream.queued = true;
    this.#ready.push(stream);
  }

  #compact(): void {
    if (this.#first === this.#ready.length) this.#ready.length = 0;
    else if (this.#first < 1024) return;
    else this.#ready.splice(0, this.#first);
    this.#first = 0;
  }
}
