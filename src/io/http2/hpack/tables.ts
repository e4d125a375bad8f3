/** What an entry counts in addition to the bytes of its name and value (RFC 7541, 4.1). */
export const OVERHEAD = 32;
/** The initial size of a dynamic table. */
export const DEFAULT_SIZE = 4096;

/** RFC 7541, appendix A, from index 1 on. A name without values has one entry, with the empty value. */
const fields: readonly (readonly [name: string, ...values: string[]])[] = [
  [":authority"],
  [":method", "GET", "POST"],
  [":path", "/", "/index.html"],
  [":scheme", "http", "https"],
  [":status", "200", "204", "206", "304", "400", "404", "500"],
  ["accept-charset"],
  ["accept-encoding", "gzip, deflate"],
  ["accept-language"],
  ["accept-ranges"],
  ["accept"],
  ["access-control-allow-origin"],
  ["age"],
  ["allow"],
  ["authorization"],
  ["cache-control"],
  ["content-disposition"],
  ["content-encoding"],
  ["content-language"],
  ["content-length"],
  ["content-location"],
  ["content-range"],
  ["content-type"],
  ["cookie"],
  ["date"],
  ["etag"],
  ["expect"],
  ["expires"],
  ["from"],
  ["host"],
  ["if-match"],
  ["if-modified-since"],
  ["if-none-match"],
  ["if-range"],
  ["if-unmodified-since"],
  ["last-modified"],
  ["link"],
  ["location"],
  ["max-forwards"],
  ["proxy-authenticate"],
  ["proxy-authorization"],
  ["range"],
  ["referer"],
  ["refresh"],
  ["retry-after"],
  ["server"],
  ["set-cookie"],
  ["strict-transport-security"],
  ["transfer-encoding"],
  ["user-agent"],
  ["vary"],
  ["via"],
  ["www-authenticate"],
];

/** By index; there is no index 0. */
export const staticNames: readonly string[] = [
  "",
  ...fields.flatMap(([name, ...values]) => (values.length > 0 ? values : [""]).map(() => name)),
];
export const staticValues: readonly string[] = ["", ...fields.flatMap(([, ...values]) => (values.length > 0 ? values : [""]))];
export const STATIC_COUNT: number = staticNames.length - 1;

/** The dynamic table as a ring. Entries are numbered from 0 in the order in which they were added, and keep their number. */
export class DynamicTable {
  readonly #names: string[];
  readonly #values: string[];
  readonly #mask: number;
  /** The number of the oldest entry that is still there. */
  oldest = 0;
  /** The number that the next entry will have. */
  next = 0;
  bytes = 0;

  /** `most` is the size that it never exceeds. */
  constructor(most: number) {
    const capacity = 2 ** Math.ceil(Math.log2(Math.max(1, most / OVERHEAD)));
    this.#names = new Array<string>(capacity).fill("");
    this.#values = new Array<string>(capacity).fill("");
    this.#mask = capacity - 1;
  }

  name(number: number): string {
    return this.#names[number & this.#mask] ?? "";
  }

  value(number: number): string {
    return this.#values[number & this.#mask] ?? "";
  }

  /** The caller must have made room. */
  add(name: string, value: string): void {
    const slot = this.next & this.#mask;
    this.#names[slot] = name;
    this.#values[slot] = value;
    this.next += 1;
    this.bytes += name.length + value.length + OVERHEAD;
  }

  /** Drops the oldest entry. There must be one. */
  drop(): void {
    const slot = this.oldest & this.#mask;
    this.bytes -= (this.#names[slot] ?? "").length + (this.#values[slot] ?? "").length + OVERHEAD;
    this.#names[slot] = "";
    this.#values[slot] = "";
    this.oldest += 1;
  }
}
