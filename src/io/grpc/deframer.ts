import { Fault } from "../../core/index.js";

/** Takes each whole message; `compressed` is the flag of its prefix. */
export type OnFrame = (message: Uint8Array, compressed: boolean) => void;

const PREFIX = 5;
/** Room for a message that comes in pieces before any of it has: what is declared but not sent costs no more. */
const FIRST = 96 * 1024;
/** The room grows by this factor: what comes in tiny pieces is copied a constant number of times, and only once if it is small. */
const GROWTH = 4;

/**
 * Messages as large as the chunks of a resource are put together in slabs that hold several: an allocation for each took about a
 * third of a client's time. Smaller ones are not, for whoever keeps one keeps its slab.
 */
const SLAB = 512 * 1024;
const LEAST = 32 * 1024;

/** Cuts gRPC's length-prefixed messages out of chunks. A message inside one chunk is a view of it; others are copied together. */
export class Deframer {
  readonly #limit: number;
  readonly #onFrame: OnFrame;
  readonly #prefix = new Uint8Array(PREFIX);
  #prefixed = 0;
  #length = 0;
  #compressed = false;
  /** Undefined between messages and inside a prefix. */
  #body: Uint8Array | undefined;
  #filled = 0;

  constructor(limit: number, onFrame: OnFrame) {
    this.#limit = limit;
    this.#onFrame = onFrame;
  }

  /** Whether it is inside a message. */
  get partial(): boolean {
    return this.#prefixed > 0;
  }

  /** Bytes of the message that it is inside of, with the room that was made for more of them. */
  get held(): number {
    if (this.#body === undefined) return 0;
    return this.#body.length <= FIRST ? this.#filled : this.#body.length;
  }

  /** Bytes of the message that it is inside of which have not come. */
  get missing(): number {
    return this.#prefixed === PREFIX ? this.#length - this.#filled : 0;
  }

  /** Lets go of what has come; nothing more is pushed. */
  drop(): void {
    this.#body = undefined;
    this.#prefixed = this.#filled = 0;
  }

  /**
   * Throws for a message over the limit, before any of it is kept, and for a prefix that is none. Of a `borrowed` chunk nothing is kept
   * but copies.
   */
  push(given: Uint8Array, borrowed = false): void {
    let chunk = given;
    let end = chunk.length;
    let lent = borrowed;
    let at = this.#prefixed === 0 ? 0 : this.#continue(chunk);
    while (end - at >= PREFIX) {
      const flag = chunk[at] ?? 0;
      const length = (chunk[at + 1] ?? 0) * 0x1000000 + (((chunk[at + 2] ?? 0) << 16) | ((chunk[at + 3] ?? 0) << 8) | (chunk[at + 4] ?? 0));
      this.#check(flag, length);
      const start = at + PREFIX;
      if (end - start < length) {
        this.#prefixed = PREFIX;
        this.#begin(flag, length);
        this.#fill(chunk, start, end);
        return;
      }
      if (lent) {
        // Small messages come many in a chunk: they are copied together, and read again there.
        chunk = Buffer.from(chunk.subarray(at));
        end = chunk.length;
        at = 0;
        lent = false;
        continue;
      }
      at = start + length;
      this.#onFrame(chunk.subarray(start, at), flag === 1);
    }
    while (at < end) this.#prefix[this.#prefixed++] = chunk[at++] ?? 0;
  }

  /** Goes on with what an earlier chunk began; returns where the next message begins. */
  #continue(chunk: Uint8Array): number {
    let at = 0;
    while (this.#prefixed < PREFIX) {
      if (at === chunk.length) return at;
      this.#prefix[this.#prefixed++] = chunk[at++] ?? 0;
      if (this.#prefixed === PREFIX) {
        const [flag = 0, a = 0, b = 0, c = 0, d = 0] = this.#prefix;
        const length = a * 0x1000000 + ((b << 16) | (c << 8) | d);
        this.#check(flag, length);
        this.#begin(flag, length);
      }
    }
    const to = Math.min(chunk.length, at + this.#length - this.#filled);
    this.#fill(chunk, at, to);
    if (this.#filled < this.#length) return to;
    const message = this.#body as Uint8Array;
    this.#body = undefined;
    this.#prefixed = 0;
    this.#onFrame(message, this.#compressed);
    return to;
  }

  #check(flag: number, length: number): void {
    if (flag > 1) throw new Fault("internal", `a message begins with the flags ${flag}, which mean nothing here`);
    if (length > this.#limit) throw tooLarge(this.#limit);
  }

  #begin(flag: number, length: number): void {
    this.#compressed = flag === 1;
    this.#length = length;
    this.#filled = 0;
    this.#body = length >= LEAST && length <= FIRST ? cut(length) : room(Math.min(length, FIRST));
  }

  #fill(chunk: Uint8Array, from: number, to: number): void {
    let body = this.#body as Uint8Array;
    const filled = this.#filled + to - from;
    if (filled > body.length) {
      const larger = room(Math.min(this.#length, Math.max(filled, body.length * GROWTH)));
      larger.set(body.subarray(0, this.#filled));
      this.#body = body = larger;
    }
    body.set(from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to), this.#filled);
    this.#filled = filled;
  }
}

/** Not zeroed: a message is handed out only when all of its bytes are written. */
function room(bytes: number): Uint8Array {
  return Buffer.allocUnsafeSlow(bytes);
}

let slab: Uint8Array = new Uint8Array(0);
let used = 0;

function cut(bytes: number): Uint8Array {
  if (used + bytes > slab.length) {
    slab = room(SLAB);
    used = 0;
  }
  return slab.subarray(used, (used += bytes));
}

export function tooLarge(limit: number): Fault {
  return new Fault("overload", `a message is larger than ${limit} bytes`, { data: { limit: "messageBytes" } });
}
