import { Buffer } from "node:buffer";
import { badHeaders, tooLong } from "./faults.js";
import { readHuffman } from "./huffman.js";
import { DEFAULT_SIZE, DynamicTable, OVERHEAD, STATIC_COUNT, staticNames, staticValues } from "./tables.js";

export interface HpackDecoderOptions {
  /** Our SETTINGS_HEADER_TABLE_SIZE. */
  readonly tableBytes: number;
  /** Bytes of one list, counted as SETTINGS_MAX_HEADER_LIST_SIZE counts: 32 for each field beyond its texts. */
  readonly listBytes: number;
}

/** Integers with more bits are refused: no length, index or size comes near that. */
const BITS = 28;

/** Reads the header blocks of one connection, in the order in which they arrived. */
export class HpackDecoder {
  readonly #tableBytes: number;
  readonly #listBytes: number;
  readonly #table: DynamicTable;
  /** The size that the peer has chosen. It is the default until the peer says otherwise. */
  #size = DEFAULT_SIZE;
  #at = 0;

  constructor(options: HpackDecoderOptions) {
    this.#tableBytes = options.tableBytes;
    this.#listBytes = options.listBytes;
    this.#table = new DynamicTable(Math.max(options.tableBytes, DEFAULT_SIZE));
  }

  /**
   * Names and values alternate, as Latin-1. Throws for an invalid block or a list that is too long. The connection is lost then, because
   * the tables of the two ends no longer agree.
   */
  decode(block: Uint8Array): string[] {
    const bytes = block instanceof Buffer ? block : Buffer.from(block.buffer, block.byteOffset, block.length);
    const list: string[] = [];
    let room = this.#listBytes;
    this.#at = 0;
    while (this.#at < bytes.length) {
      const first = bytes[this.#at] ?? 0;
      let name: string;
      let value: string;
      if (first >= 0x80) {
        const index = this.#integer(bytes, 0x7f);
        name = this.#name(index);
        value = index <= STATIC_COUNT ? (staticValues[index] ?? "") : this.#table.value(this.#number(index));
      } else if (first >= 0x20 && first < 0x40) {
        if (list.length > 0) throw badHeaders("the size of the table changes after a field");
        this.#resize(this.#integer(bytes, 0x1f));
        continue;
      } else {
        const indexing = first >= 0x40;
        const index = this.#integer(bytes, indexing ? 0x3f : 0x0f);
        name = index === 0 ? this.#text(bytes, room) : this.#name(index);
        value = this.#text(bytes, room);
        if (indexing) this.#add(name, value);
      }
      room -= name.length + value.length + OVERHEAD;
      if (room < 0) throw tooLong(this.#listBytes);
      list.push(name, value);
    }
    return list;
  }

  #name(index: number): string {
    return index <= STATIC_COUNT && index > 0 ? (staticNames[index] ?? "") : this.#table.name(this.#number(index));
  }

  /** The number in the dynamic table for an index. */
  #number(index: number): number {
    const number = this.#table.next + STATIC_COUNT - index;
    if (index === 0 || number < this.#table.oldest) throw badHeaders(`there is no index ${index}`);
    return number;
  }

  #resize(size: number): void {
    if (size > this.#tableBytes) throw badHeaders(`the size of the table is ${size}, over ${this.#tableBytes}`);
    this.#size = size;
    this.#shrink(size);
  }

  /** An entry larger than the table empties it and is not added. That is not an error. */
  #add(name: string, value: string): void {
    const room = this.#size - name.length - value.length - OVERHEAD;
    this.#shrink(Math.max(room, 0));
    if (room >= 0) this.#table.add(name, value);
  }

  #shrink(to: number): void {
    while (this.#table.bytes > to) this.#table.drop();
  }

  /** RFC 7541, 5.1: `mask` covers the bits of the first byte that belong to the number. */
  #integer(bytes: Uint8Array, mask: number): number {
    let value = (bytes[this.#at++] ?? 0) & mask;
    if (value < mask) return value;
    for (let shift = 0; shift < BITS; shift += 7) {
      const next = bytes[this.#at++];
      if (next === undefined) throw badHeaders("it ends inside a number");
      value += (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
    throw badHeaders("a number is too large");
  }

  #text(bytes: Buffer, most: number): string {
    if (this.#at === bytes.length) throw badHeaders("it ends before a text");
    const coded = (bytes[this.#at] ?? 0) >= 0x80;
    const length = this.#integer(bytes, 0x7f);
    const start = this.#at;
    const end = start + length;
    if (end > bytes.length) throw badHeaders("it ends inside a text");
    this.#at = end;
    const text = coded ? readHuffman(bytes, { start, end }, most) : length <= most ? bytes.toString("latin1", start, end) : undefined;
    if (text === undefined) throw tooLong(this.#listBytes);
    return text;
  }
}
