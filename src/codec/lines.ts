import { Fault } from "../core/index.js";
import { concat } from "../stream/index.js";
import type { IncomingBad, LinkMessage } from "./jsonrpc.js";
import { skippedLine } from "./skipped-line.js";

/** A line that is not valid text, or too long. */
export interface BadLine {
  readonly fault: Fault;
  /** The request or call that it belongs to, if already known. */
  readonly whose?: Pick<IncomingBad, "id" | "answers">;
  /** The line with every bad byte replaced. It is not delivered, but may show whom it belongs to. */
  readonly text?: string;
}

/** A message that was read before the end of its line. */
export interface ReadLine {
  readonly message: LinkMessage;
}

/** The text of a line, or in its place what is wrong with it. */
export type Line = string | BadLine | ReadLine;

/** Reads a line without holding it. */
export interface LongLine {
  push(bytes: Uint8Array): readonly Line[];
  end(): readonly Line[];
}

/** Takes over lines that have grown long from the framer. */
export interface LongLines {
  /** The length in bytes from which on it is asked. */
  readonly bytes: number;
  /** Asked once for each line, with what has arrived of it. Undefined: the line is held, up to the limit. */
  begin(held: Uint8Array): LongLine | undefined;
}

/** Finds lines in bytes that arrive in chunks of any size. */
export interface LineFramer {
  /**
   * The lines that the chunk completes. The chunk may be kept, so it must not be written to again. Of a line that exceeds the limit only
   * the ends are kept, and it is a bad line. Throws a Fault if such a line does not end.
   */
  push(chunk: Uint8Array): readonly Line[];
  /** To be called at the end of the stream. Returns a fault if that is inside a line. */
  end(): readonly Line[];
}

export interface LineFramerOptions {
  /** Bytes of one line without its `\n`. */
  readonly maxBytes: number;
  /** Asked in this order. */
  readonly long?: readonly LongLines[] | undefined;
}

/** Lines end with `\n`; one `\r` before it is not part of the line. Blank lines and a byte order mark at the start are left out. */
export function lineFramer(options: LineFramerOptions): LineFramer {
  return new Framer(options);
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const MARK = 0xfeff;
/** Smaller pieces of a partial line are copied together: thousands of views would cost more than their content. */
const SMALL = 4 * 1024;
const TAIL = 16 * 1024;
const blank = /^[ \t\r]*$/;
const nothing: readonly Line[] = [];
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder();

class Framer implements LineFramer {
  readonly #max: number;
  readonly #longLines: readonly LongLines[];
  /** The partial line so far: large pieces as they came, small ones in a tail, which follows the last piece. */
  #parts: Uint8Array[] = [];
  #tail = new Uint8Array(0);
  #filled = 0;
  #length = 0;
  #started = false;
  /** The line that is being read without being held. */
  #long: LongLine | undefined;
  /** How many of the long-line readers were asked for this line. */
  #asked = 0;

  constructor({ maxBytes, long = [] }: LineFramerOptions) {
    this.#max = maxBytes;
    this.#longLines = long;
  }

  push(chunk: Uint8Array): readonly Line[] {
    const size = chunk.byteLength;
    // Most chunks end with a line. Then nothing is searched, and no view is made.
    const last = chunk[size - 1] === NEWLINE ? size - 1 : chunk.lastIndexOf(NEWLINE);
    if (last < 0) return this.#keep(chunk);
    const lines: Line[] = [];
    let start = 0;
    if (this.#length > 0) {
      start = chunk.indexOf(NEWLINE) + 1;
      lines.push(...this.#keep(chunk.subarray(0, start - 1)));
      this.#finish(lines);
    }
    if (last >= start) this.#readBlock(start === 0 && last === size - 1 ? chunk : chunk.subarray(start, last), lines);
    if (last < size - 1) lines.push(...this.#keep(chunk.subarray(last + 1)));
    return lines;
  }

  end(): readonly Line[] {
    const long = this.#long !== undefined;
    const half = this.#takeHalf();
    if (!long && half.every((byte) => byte === 0x20 || byte === 0x09 || byte === RETURN)) return nothing;
    return [{ fault: new Fault("parse", "the stream ended inside a line") }];
  }

  /** Decodes whole lines together if they are all valid: decoding costs more by the call than by the byte. */
  #readBlock(block: Uint8Array, lines: Line[]): void {
    const text = block.byteLength <= this.#max ? decode(block) : undefined;
    if (text !== undefined) {
      // By hand: if a chunk is one line, split() costs more than the rest together.
      for (let start = 0; start <= text.length; ) {
        const found = text.indexOf("\n", start);
        const end = found < 0 ? text.length : found;
        if (end === start) this.#started = true;
        else this.#add(text.slice(start, end), lines);
        start = end + 1;
      }
      return;
    }
    for (let start = 0; start <= block.byteLength; ) {
      const found = block.indexOf(NEWLINE, start);
      const end = found < 0 ? block.byteLength : found;
      this.#readLine(block.subarray(start, end), lines);
      start = end + 1;
    }
  }

  #readLine(bytes: Uint8Array, lines: Line[]): void {
    if (bytes.byteLength > this.#max) {
      const skipped = skippedLine(this.#max);
      skipped.push(bytes);
      lines.push(...skipped.end());
      return;
    }
    const text = decode(bytes);
    if (text !== undefined) {
      this.#add(text, lines);
      return;
    }
    this.#started = true;
    lines.push({ fault: new Fault("parse", "the line is non-UTF-8"), text: lenient.decode(bytes) });
  }

  #add(text: string, lines: Line[]): void {
    let line = text;
    if (!this.#started) {
      this.#started = true;
      if (line.charCodeAt(0) === MARK) line = line.slice(1);
    }
    if (line.charCodeAt(line.length - 1) === RETURN) line = line.slice(0, -1);
    // NaN for an empty line. Nearly every other line begins with a brace.
    if (line.charCodeAt(0) > 0x20 || !blank.test(line)) lines.push(line);
  }

  /** Adds to the partial line. A long line in many chunks is copied once, when it is complete. Returns what was already read of it. */
  #keep(bytes: Uint8Array): readonly Line[] {
    if (this.#long !== undefined) return this.#long.push(bytes);
    this.#append(bytes);
    if (this.#length > this.#max) return this.#lengthen(this.#takeHalf(), skippedLine(this.#max));
    for (let next = this.#longLines[this.#asked]; next !== undefined && this.#length > next.bytes; next = this.#longLines[this.#asked]) {
      this.#asked++;
      const held = this.#takeHalf();
      const long = next.begin(held);
      if (long !== undefined) return this.#lengthen(held, long);
      this.#append(held);
    }
    return nothing;
  }

  #lengthen(held: Uint8Array, long: LongLine): readonly Line[] {
    this.#long = long;
    // Marks that a line has begun.
    this.#length = 1;
    return long.push(held);
  }

  #finish(lines: Line[]): void {
    if (this.#long === undefined) this.#readLine(this.#takeHalf(), lines);
    else lines.push(...this.#long.end());
    this.#long = undefined;
    this.#asked = 0;
    this.#length = 0;
  }

  #append(bytes: Uint8Array): void {
    this.#length += bytes.byteLength;
    if (bytes.byteLength >= SMALL) {
      this.#sealTail();
      this.#parts.push(bytes);
      return;
    }
    if (this.#filled + bytes.byteLength > this.#tail.byteLength) {
      this.#sealTail();
      if (this.#tail.byteLength === 0) this.#tail = new Uint8Array(TAIL);
    }
    this.#tail.set(bytes, this.#filled);
    this.#filled += bytes.byteLength;
  }

  /** Turns the tail into a piece. An empty tail stays to be filled. */
  #sealTail(): void {
    if (this.#filled === 0) return;
    this.#parts.push(this.#tail.subarray(0, this.#filled));
    this.#tail = new Uint8Array(0);
    this.#filled = 0;
  }

  /** Use the result before the next chunk is kept: a partial line that fits in the tail is not copied. */
  #takeHalf(): Uint8Array {
    if (this.#parts.length > 0) this.#sealTail();
    const half = this.#parts.length > 0 ? concat(this.#parts) : this.#tail.subarray(0, this.#filled);
    this.#parts = [];
    this.#filled = 0;
    this.#length = 0;
    return half;
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
