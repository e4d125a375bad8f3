import { Buffer } from "node:buffer";
import { DEFAULT_SIZE, DynamicTable, OVERHEAD, STATIC_COUNT, staticNames, staticValues } from "./tables.js";

/** Longer fields stay out of the table: one would push out many that repeat. */
const LONGEST = 256;
/** Blocks of up to this many bytes are written into memory that is kept. */
const KEPT = 4096;
/** The most bytes that a field takes in addition to its texts, and that size updates take: three integers. */
const INTEGERS = 16;
/** Texts of up to this length are faster to write here than by a call into Node. */
const SHORT = 24;

/** These have a new value with almost every request. One entry goes into the table for the sake of the name, the others do not. */
const changing: readonly string[] = ["content-length", "grpc-timeout", "traceparent"];
/** No intermediary may put these in a table either (RFC 7541, 7.1.3). */
const secret: readonly string[] = ["authorization", "cookie", "proxy-authorization"];

const INDEXED = 0x80;
const INDEXING = 0x40;
const SIZE = 0x20;
const NEVER = 0x10;
const PLAIN = 0x00;

/** A name that is in a table or is treated specially. */
interface Known {
  readonly kind: "usual" | "changing" | "secret";
  /** Its first index in the static table, or 0. */
  readonly fixed: number;
  /** Where each value is: a number of the dynamic table, or the negated index of the static one. */
  readonly places: Map<string, number>;
  /** The number of its newest entry in the dynamic table. The entry may be gone. */
  newest: number;
}

function fixedNames(): Map<string, Known> {
  const names = new Map<string, Known>();
  const know = (name: string, fixed: number): Known => {
    const kind = secret.includes(name) ? "secret" : changing.includes(name) ? "changing" : "usual";
    const known: Known = { kind, fixed, places: new Map(), newest: -1 };
    names.set(name, known);
    return known;
  };
  for (let index = 1; index <= STATIC_COUNT; index += 1) {
    const name = staticNames[index] ?? "";
    (names.get(name) ?? know(name, index)).places.set(staticValues[index] ?? "", -index);
  }
  for (const name of changing) if (!names.has(name)) know(name, 0);
  return names;
}

/** Writes the header blocks of one connection, in the order in which they are sent. Texts are written without Huffman coding. */
export class HpackEncoder {
  readonly #table = new DynamicTable(DEFAULT_SIZE);
  readonly #names = fixedNames();
  readonly #kept = Buffer.allocUnsafeSlow(KEPT);
  #out = this.#kept;
  #at = 0;
  #limit = DEFAULT_SIZE;
  /** The table size that the peer knows, and the smallest since then. */
  #announced = DEFAULT_SIZE;
  #least = DEFAULT_SIZE;

  /**
   * The peer's SETTINGS_HEADER_TABLE_SIZE. The next block announces a change of the size, which stays at 4096 if more is allowed.
   */
  set limit(bytes: number) {
    this.#limit = Math.min(bytes, DEFAULT_SIZE);
    this.#least = Math.min(this.#least, this.#limit);
    this.#shrink(this.#limit);
  }

  /**
   * Names, in lower case, and values alternate; values are Latin-1. The block must be sent. Its bytes are valid only until the next call.
   */
  encode(headers: readonly string[]): Uint8Array {
    const count = headers.length;
    let most = INTEGERS + (count >> 1) * INTEGERS;
    for (let i = 0; i < count; i += 1) most += (headers[i] ?? "").length;
    this.#out = most <= KEPT ? this.#kept : Buffer.allocUnsafeSlow(most);
    this.#at = 0;
    if (this.#least !== this.#announced || this.#limit !== this.#announced) this.#announce();
    for (let i = 0; i < count; i += 2) {
      const name = headers[i] ?? "";
      const value = headers[i + 1] ?? "";
      const known = this.#names.get(name);
      const place = known?.places.get(value);
      if (place === undefined) this.#literal(name, value, known);
      else this.#integer(INDEXED, 0x7f, place < 0 ? -place : this.#index(place));
    }
    const block = this.#out.subarray(0, this.#at);
    this.#out = this.#kept;
    return block;
  }

  #announce(): void {
    if (this.#least < this.#limit) this.#integer(SIZE, 0x1f, this.#least);
    this.#integer(SIZE, 0x1f, this.#limit);
    this.#announced = this.#least = this.#limit;
  }

  #literal(name: string, value: string, known: Known | undefined): void {
    const size = name.length + value.length + OVERHEAD;
    const index = known === undefined ? 0 : known.fixed || (known.newest < this.#table.oldest ? 0 : this.#index(known.newest));
    const fits = size - OVERHEAD < LONGEST && size <= this.#limit;
    const indexing = fits && known?.kind !== "secret" && (known?.kind !== "changing" || index === 0);
    if (indexing) this.#integer(INDEXING, 0x3f, index);
    else this.#integer(known?.kind === "secret" ? NEVER : PLAIN, 0x0f, index);
    if (index === 0) this.#text(name);
    this.#text(value);
    if (indexing) this.#keep(name, value, size);
  }

  #keep(name: string, value: string, size: number): void {
    this.#shrink(this.#limit - size);
    let known = this.#names.get(name);
    if (known === undefined) this.#names.set(name, (known = { kind: "usual", fixed: 0, places: new Map(), newest: -1 }));
    known.newest = this.#table.next;
    known.places.set(value, known.newest);
    this.#table.add(name, value);
  }

  #shrink(to: number): void {
    const table = this.#table;
    while (table.bytes > to) {
      const name = table.name(table.oldest);
      const known = this.#names.get(name) as Known;
      known.places.delete(table.value(table.oldest));
      if (known.places.size === 0 && known.fixed === 0 && known.kind === "usual") this.#names.delete(name);
      table.drop();
    }
  }

  #index(number: number): number {
    return STATIC_COUNT + this.#table.next - number;
  }

  /** RFC 7541, 5.1: `mask` covers the bits of the first byte that belong to the number. */
  #integer(flags: number, mask: number, value: number): void {
    const out = this.#out;
    if (value < mask) {
      out[this.#at++] = flags | value;
      return;
    }
    out[this.#at++] = flags | mask;
    let rest = value - mask;
    for (; rest > 0x7f; rest >>>= 7) out[this.#at++] = 0x80 | (rest & 0x7f);
    out[this.#at++] = rest;
  }

  #text(text: string): void {
    const length = text.length;
    this.#integer(0, 0x7f, length);
    if (length > SHORT) this.#out.write(text, this.#at, "latin1");
    else for (let i = 0; i < length; i += 1) this.#out[this.#at + i] = text.charCodeAt(i);
    this.#at += length;
  }
}
