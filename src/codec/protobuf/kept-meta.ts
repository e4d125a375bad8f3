import { extended, isObject, type JsonObject } from "../../core/index.js";
import { readJsonField, stringify } from "./json.js";
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

// A caller says the same about itself in the `_meta` of every request, and a server in that of every result. What was written or read last
// is kept, so that it need not be converted each time. It is kept as a private copy, or frozen: what a program does to its own objects
// changes nothing for another caller.

/** The most bytes that are kept of one. */
const KEPT = 4096;
/** How many are kept of each direction. A relay reads and writes two in turn, its clients' and its server's. */
const MOST = 8;

/** A JSON value, taken apart once. */
interface Kept {
  readonly value: unknown;
  /** The member names of an object; undefined for anything else. */
  readonly names: readonly string[] | undefined;
  readonly members: readonly Kept[];
}

function keep(value: unknown): Kept {
  if (typeof value !== "object" || value === null) return { value, names: undefined, members: [] };
  return { value, names: Array.isArray(value) ? undefined : Object.keys(value), members: Object.values(value).map(keep) };
}

/** Whether a value has the JSON text of what is kept. It may return false for one that has. */
function isSame(value: unknown, kept: Kept): boolean {
  if (typeof value !== "object" || value === null) return value === kept.value;
  const { names, members } = kept;
  if (names === undefined) {
    if (!Array.isArray(value) || !Array.isArray(kept.value) || value.length !== members.length) return false;
    return members.every((member, at) => isSame(value[at], member));
  }
  // An object of a class may define how it is written.
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  let at = 0;
  for (const name in value) {
    if (at === names.length || name !== names[at] || !isSame((value as JsonObject)[name], members[at] as Kept)) return false;
    at++;
  }
  return at === names.length;
}

const written: { readonly kept: Kept; readonly bytes: Uint8Array }[] = [];

/** Writes an object as JSON in the field of that tag. */
export function writeKeptMeta(writer: Writer, tag: number, value: JsonObject): boolean {
  for (const { kept, bytes } of written) {
    if (!isSame(value, kept)) continue;
    writer.varint(tag);
    writer.octets(bytes);
    return true;
  }
  const text = stringify(value);
  if (text === undefined || !text.startsWith("{")) return false;
  writer.varint(tag);
  const { at } = writer;
  if (!writer.text(text)) return false;
  const end = writer.at;
  if (end - at > KEPT) return true;
  // The length prefix is not kept. Below KEPT it takes one or two bytes.
  add(written, { kept: keep(JSON.parse(text)), bytes: writer.bytes.slice(at + (end - at - 1 < 128 ? 1 : 2), end) });
  return true;
}

const read: { readonly value: JsonObject; readonly bytes: Uint8Array; readonly depth: number }[] = [];

/** Reads a field that holds JSON. The top object is the caller's own, and members are added to it; everything below is frozen. */
export function readKeptMeta(reader: Reader, depth: number): unknown {
  const { at } = reader;
  const bytes = reader.octets();
  for (const kept of read) if (kept.depth <= depth && sameBytes(bytes, kept.bytes)) return extended(kept.value);
  reader.at = at;
  const value = readJsonField(reader, depth);
  if (!isObject(value) || bytes.length > KEPT) return value;
  for (const member of Object.values(value)) freeze(member);
  add(read, { value, bytes: bytes.slice(), depth });
  return extended(value);
}

/** Keeps one more, in place of the oldest if there are too many. */
function add<T>(kept: T[], one: T): void {
  if (kept.length === MOST) kept.pop();
  kept.unshift(one);
}

/** Freezes all of it. Its depth was checked when it was read. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const member of Object.values(value)) freeze(member);
  Object.freeze(value);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
