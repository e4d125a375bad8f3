import { MOST_VALUES, tooManyValues } from "../depth.js";
import { malformed } from "./fault.js";
import { utf8Text } from "./text.js";

/** Limit on nested groups that are skipped. This protocol has none. */
const GROUPS = 64;

/** A JSON value has up to four lengths: of its entry, its name, its Value, and the content of that. */
const MOST_LENGTHS = 4 * MOST_VALUES;

/** Reads one message. Nothing is read beyond `end`, the end of the innermost message that was entered. */
export class Reader {
  readonly bytes: Uint8Array;
  at = 0;
  end: number;
  #view: DataView | undefined;
  #lengths = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.end = bytes.length;
  }

  /** Reads an enum, a bool or an int32. A value beyond 32 bits is truncated, as in protobuf. */
  varint(): number {
    const { bytes, end } = this;
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= end) throw malformed("the message is cut off");
      const octet = bytes[this.at++] ?? 0;
      if (shift < 32) value |= (octet & 0x7f) << shift;
      if (octet < 128) return value >>> 0;
    }
    throw malformed("a number is longer than ten bytes");
  }

  int32(): number {
    return this.varint() | 0;
  }

  /** Reads an int64 as a double, which may round it. */
  int64(): number {
    const { bytes, end } = this;
    let low = 0;
    let high = 0;
    for (let count = 0; count < 10; count++) {
      if (this.at >= end) throw malformed("the message is cut off");
      const octet = bytes[this.at++] ?? 0;
      const bits = octet & 0x7f;
      if (count < 4) low |= bits << (7 * count);
      else if (count === 4) {
        low |= bits << 28;
        high = bits >> 4;
      } else high |= bits << (7 * count - 32);
      if (octet < 128) return (high | 0) * 0x1_0000_0000 + (low >>> 0);
    }
    throw malformed("a number is longer than ten bytes");
  }

  double(): number {
    if (this.at + 8 > this.end) throw malformed("the message is cut off");
    this.#view ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    const value = this.#view.getFloat64(this.at, true);
    this.at += 8;
    // JSON has no such number, and null would be another value.
    if (!Number.isFinite(value)) throw malformed("a number is not finite");
    return value;
  }

  /** Reads a tag or a length. */
  #size(): number {
    const { bytes, end } = this;
    let value = 0;
    for (let place = 1; place <= 2 ** 28; place *= 128) {
      if (this.at >= end) throw malformed("the message is cut off");
      const octet = bytes[this.at++] ?? 0;
      value += (octet & 0x7f) * place;
      if (octet < 128) return value;
    }
    throw malformed("a tag or length is longer than five bytes");
  }

  /** The end of what a length announces. */
  limit(): number {
    this.count();
    const length = this.#size();
    if (length > this.end - this.at) throw malformed("the message is cut off");
    return this.at + length;
  }

  /** Counts values that take more memory than their bytes. */
  count(): void {
    if (++this.#lengths > MOST_LENGTHS) throw tooManyValues();
  }

  text(): string {
    const to = this.limit();
    const text = utf8Text(this.bytes, this.at, to);
    this.at = to;
    return text;
  }

  /** A view, not a copy. */
  octets(): Uint8Array {
    const to = this.limit();
    const octets = this.bytes.subarray(this.at, to);
    this.at = to;
    return octets;
  }

  /** Enters a message. Returns what `leave` needs. */
  enter(): number {
    const outer = this.end;
    this.end = this.limit();
    return outer;
  }

  leave(outer: number): void {
    this.at = this.end;
    this.end = outer;
  }

  tag(): number {
    const tag = this.#size();
    if (tag < 8 || tag > 0xffffffff) throw malformed("a field has an impossible number");
    return tag;
  }

  /** Skips an unknown field. */
  skip(tag: number): void {
    const open: number[] = [];
    let current = tag;
    for (;;) {
      const wire = current & 7;
      if (wire === 3) {
        if (open.push(current >>> 3) > GROUPS) throw malformed("the message is nested too deep");
      } else if (wire === 4) {
        if (open.pop() !== current >>> 3) throw malformed("a group ends that did not begin");
      } else this.#pass(wire);
      if (open.length === 0) return;
      current = this.tag();
    }
  }

  #pass(wire: number): void {
    if (wire === 0) this.varint();
    else if (wire === 2) this.at = this.limit();
    else if (wire === 1 || wire === 5) {
      this.at += wire === 1 ? 8 : 4;
      if (this.at > this.end) throw malformed("the message is cut off");
    } else throw malformed("a field has an unknown wire type");
  }
}
