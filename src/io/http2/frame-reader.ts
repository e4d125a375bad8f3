import { broken } from "./broken.js";
import { DATA, FRAME_BYTES, FRAME_SIZE_ERROR, HEAD, PADDED, PROTOCOL_ERROR, readUint31, readUint32 } from "./frames.js";

/** Receives the output of a frame reader. The bytes are views of memory that is reused after the call. */
export interface FrameSink {
  /** A DATA frame begins. `length` is what it counts for flow control. */
  onDataFrame(id: number, length: number): void;
  /** Some of its data. */
  onDataBytes(bytes: Uint8Array): void;
  /** The DATA frame has ended. */
  onDataEnd(flags: number): void;
  /** Any other frame, whole. */
  onFrame(type: number, flags: number, id: number, payload: Uint8Array): void;
}

const NOT_READ = -1;

/** Cuts HTTP/2 frames out of bytes. Data is passed on as it arrives; other frames are small and are passed on whole. */
export class Http2FrameReader {
  readonly #sink: FrameSink;
  readonly #most: number;
  readonly #head = new Uint8Array(HEAD);
  #headed = 0;
  #type = 0;
  #flags = 0;
  #id = 0;
  /** Bytes of the payload that are still to come. */
  #left = 0;
  /** How many of those are padding. */
  #padding = 0;
  /** The part that has arrived of a payload that is passed on whole. */
  #payload: Uint8Array | undefined;
  #filled = 0;
  #begun = false;

  /** `most`: bytes of a frame that the peer may send. */
  constructor(sink: FrameSink, most: number = FRAME_BYTES) {
    this.#sink = sink;
    this.#most = most;
  }

  /** Throws a broken() fault, or what the sink throws. */
  push(bytes: Uint8Array): void {
    const end = bytes.length;
    let at = 0;
    while (at < end) {
      if (this.#headed < HEAD) {
        while (this.#headed < HEAD && at < end) this.#head[this.#headed++] = bytes[at++] ?? 0;
        if (this.#headed < HEAD) return;
        this.#begin();
      } else if (this.#type === DATA) {
        at = this.#data(bytes, at, end);
      } else {
        at = this.#gather(bytes, at, end);
      }
    }
  }

  #begin(): void {
    this.#left = readUint32(this.#head, 0) >>> 8;
    this.#type = this.#head[3] ?? 0;
    this.#flags = this.#head[4] ?? 0;
    if (this.#left > this.#most) throw this.#tooLong();
    this.#begun = true;
    this.#id = readUint31(this.#head, 5);
    if (this.#type === DATA) {
      this.#padding = (this.#flags & PADDED) === 0 ? 0 : NOT_READ;
      if (this.#padding === NOT_READ && this.#left === 0) throw broken(PROTOCOL_ERROR, "the server sent more padding than frame");
      this.#sink.onDataFrame(this.#id, this.#left);
    }
    if (this.#left === 0) this.#end(nothing);
  }

  #tooLong(): Error {
    if (this.#begun) return broken(FRAME_SIZE_ERROR, "the server sent a frame that is too long");
    const text = String.fromCharCode(...this.#head);
    const what = text.startsWith("HTTP/") ? "speaks HTTP/1 and not HTTP/2" : "does not speak HTTP/2";
    return broken(PROTOCOL_ERROR, `the server ${what}`);
  }

  #data(bytes: Uint8Array, at: number, end: number): number {
    if (this.#padding === NOT_READ) {
      this.#padding = bytes[at] ?? 0;
      this.#left--;
      if (this.#padding > this.#left) throw broken(PROTOCOL_ERROR, "the server sent more padding than frame");
      if (this.#left === 0) this.#end(nothing);
      return at + 1;
    }
    const content = this.#left - this.#padding;
    const to = Math.min(end, at + (content > 0 ? content : this.#left));
    this.#left -= to - at;
    if (content > 0) this.#sink.onDataBytes(bytes.subarray(at, to));
    if (this.#left === 0) this.#end(nothing);
    return to;
  }

  #gather(bytes: Uint8Array, at: number, end: number): number {
    const to = Math.min(end, at + this.#left);
    this.#left -= to - at;
    if (this.#payload === undefined && this.#left === 0) {
      this.#end(bytes.subarray(at, to));
      return to;
    }
    this.#payload ??= new Uint8Array(to - at + this.#left);
    this.#payload.set(bytes.subarray(at, to), this.#filled);
    this.#filled += to - at;
    if (this.#left === 0) this.#end(this.#payload);
    return to;
  }

  #end(payload: Uint8Array): void {
    this.#headed = this.#filled = 0;
    this.#payload = undefined;
    if (this.#type === DATA) this.#sink.onDataEnd(this.#flags);
    else this.#sink.onFrame(this.#type, this.#flags, this.#id, payload);
  }
}

const nothing = new Uint8Array(0);
