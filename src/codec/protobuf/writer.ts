import { utf8Length } from "../../stream/index.js";
import { isText, writeText } from "./text.js";

/** Bytes that small messages share: allocating for each costs more than writing it. */
const SLAB = 16 * 1024;
/** With less room than this left, the next message begins a new slab. */
const LEAST = 1024;
/** Up to this length a loop is faster than a native call. */
const SHORT = 40;
/** Up to this length, room is made for the worst case, because counting costs more. */
const MEDIUM = 4096;

/** Writes the bytes of one message. To undo a write, set `at` back. */
export class Writer {
  bytes: Uint8Array = new Uint8Array(SLAB);
  at = 0;
  #start = 0;
  readonly #float = new DataView(new ArrayBuffer(8));
  readonly #octets = new Uint8Array(this.#float.buffer);

  /** Returns everything written. The next message begins behind it. */
  finish(): Uint8Array {
    const { bytes, at } = this;
    // A large buffer that is mostly empty would be kept as long as its message.
    const whole = bytes.length > SLAB && at < bytes.length * 0.75 ? bytes.slice(this.#start, at) : bytes.subarray(this.#start, at);
    this.#start = at;
    if (bytes.length - at < LEAST || bytes.length > SLAB) {
      this.bytes = new Uint8Array(SLAB);
      this.at = this.#start = 0;
    }
    return whole;
  }

  /** Drops what was not finished. */
  reset(): void {
    this.at = this.#start;
  }

  room(count: number): void {
    if (this.at + count > this.bytes.length) this.#grow(count);
  }

  #grow(count: number): void {
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.at + count));
    // At the same positions, because some are remembered.
    larger.set(this.bytes.subarray(this.#start, this.at), this.#start);
    this.bytes = larger;
  }

  /** An unsigned integer below 2^53. */
  varint(value: number): void {
    this.room(10);
    let rest = value;
    while (rest > 0x7fffffff) {
      this.bytes[this.at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    while (rest > 127) {
      this.bytes[this.at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.at++] = rest;
  }

  /** A safe integer as int32 or int64. */
  integer(value: number): void {
    if (value >= 0) return this.varint(value);
    this.room(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (let count = 0; count < 9; count++) {
      this.bytes[this.at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.bytes[this.at++] = Number(rest);
  }

  double(value: number): void {
    this.room(8);
    this.#float.setFloat64(0, value, true);
    this.bytes.set(this.#octets, this.at);
    this.at += 8;
  }

  octets(value: Uint8Array): void {
    this.varint(value.length);
    this.room(value.length);
    this.bytes.set(value, this.at);
    this.at += value.length;
  }

  /** Begins something whose length is not known yet. `close` puts the length before it. */
  open(): number {
    this.room(1);
    return ++this.at;
  }

  close(from: number): void {
    const length = this.at - from;
    if (length < 128) {
      this.bytes[from - 1] = length;
      return;
    }
    let more = 1;
    for (let rest = length / 128; rest >= 128; rest /= 128) more++;
    this.room(more);
    this.bytes.copyWithin(from + more, from, this.at);
    const end = this.at + more;
    this.at = from - 1;
    this.varint(length);
    this.at = end;
  }

  /** Writes the length and the text. Returns false, and writes nothing, if UTF-8 cannot hold it. */
  text(value: string): boolean {
    const { length } = value;
    this.room((length <= MEDIUM ? length * 3 : utf8Length(value)) + 5);
    const { bytes, at } = this;
    if (length <= SHORT) {
      let to = at + 1;
      let index = 0;
      for (; index < length; index++) {
        const unit = value.charCodeAt(index);
        if (unit > 127) break;
        bytes[to++] = unit;
      }
      if (index === length) {
        bytes[at] = length;
        this.at = to;
        return true;
      }
    }
    if (!isText(value)) return false;
    const from = this.open();
    this.at += writeText(bytes, value, this.at);
    this.close(from);
    return true;
  }
}
