import { Fault } from "../../core/index.js";
import { allocateGarbage } from "../../stream/index.js";

/** Called with each whole message. `compressed` is the flag of its prefix. */
export type OnFrame = (message: Uint8Array, compressed: boolean) => void;

const PREFIX = 5;
/** The first buffer for a message that comes in pieces. A length that is declared but not sent costs no more than this. */
const FIRST = 96 * 1024;
/**
 * The factor by which the buffer grows. Bytes that come in tiny pieces are copied a constant number of times, and only once if they are
 * few.
 */
const GROWTH = 4;

/**
 * Messages of the size of a resource's chunks are assembled in slabs that hold several: an allocation for each took about a third of a
 * client's time. Smaller messages are not, because keeping one would keep its whole slab.
 */
const SLAB = 512 * 1024;
const LEAST = 32 * 1024;

/** Cuts gRPC's length-prefixed messages out of chunks. A message within one chunk is a view of it; others are copied together. */
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

  /** Bytes held for the current message, including the room made for more. */
  get held(): number {
    if (this.#body === undefined) return 0;
    return this.#body.length <= FIRST ? this.#filled : this.#body.length;
  }

  /** Bytes of the current message that have not arrived yet. */
  get missing(): number {
    return this.#prefixed === PREFIX ? this.#length - this.#filled : 0;
  }

  /** Drops what has arrived. Nothing more may be pushed. */
  drop(): void {
    this.#body = undefined;
    this.#prefixed = this.#filled = 0;
  }

  /**
   * Throws for a message over the limit, before any of it is kept, and for an invalid prefix. Of a `borrowed` chunk only copies are kept.
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
        // A chunk may hold many small messages. They are copied together, and read from the copy.
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

  /** Continues with what an earlier chunk began. Returns where the next message begins. */
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

/** Not zeroed: a message is passed on only when all its bytes are written. */
function room(bytes: number): Uint8Array {
  return Buffer.allocUnsafeSlow(bytes);
}

/** Whether V8 frees slabs late by itself. On Node 24 it does, and reads at half the speed. Node 20 and 22 need no help. */
const LATE = Number.parseInt(process.versions.node, 10) >= 23;

let slab: Uint8Array = new Uint8Array(0);
let used = 0;

function cut(bytes: number): Uint8Array {
  if (LATE) allocateGarbage(bytes);
  if (used + bytes > slab.length) {
    slab = room(SLAB);
    used = 0;
  }
  return slab.subarray(used, (used += bytes));
}

export function tooLarge(limit: number): Fault {
  return new Fault("overload", `a message is larger than ${limit} bytes`, { data: { limit: "messageBytes" } });
}
