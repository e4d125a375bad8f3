import { extended, isObject, type JsonObject, meta } from "../../core/index.js";
import { readJson, stringify } from "./json.js";
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

// A caller says the same about itself in the `_meta` of every request. What was written or read last is kept, so that it need not be
// turned into text and back each time. What the edge adds is told apart by identity, for it stays as it is; what a caller adds may be an
// object that it changes between its calls, and with one nothing is kept.

/** Bytes of what is kept at most. */
const KEPT = 4096;

let written: { readonly names: readonly string[]; readonly values: readonly unknown[]; readonly bytes: Uint8Array } | undefined;

/** Writes an object as JSON in the field of that tag. */
export function writeAgain(writer: Writer, tag: number, value: JsonObject): boolean {
  const names = Object.keys(value);
  if (written !== undefined && sameMembers(names, value)) {
    writer.varint(tag);
    writer.octets(written.bytes);
    return true;
  }
  const text = stringify(value);
  if (text === undefined || !text.startsWith("{")) return false;
  writer.varint(tag);
  const { at } = writer;
  if (!writer.text(text)) return false;
  // The length before it is not part of what is kept.
  const end = writer.at;
  const length = lengthBytes(end - at);
  if (end - at <= KEPT && lasting(names, value))
    written = { names, values: names.map((name) => value[name]), bytes: writer.bytes.slice(at + length, end) };
  return true;
}

const ofTheEdge: ReadonlySet<string> = new Set([meta.clientInfo, meta.clientCapabilities, meta.serverInfo]);

/** Whether members that are the same later say the same. */
function lasting(names: readonly string[], value: JsonObject): boolean {
  return names.every((name) => typeof value[name] !== "object" || ofTheEdge.has(name));
}

function sameMembers(names: readonly string[], value: JsonObject): boolean {
  const { names: known, values } = written as NonNullable<typeof written>;
  if (names.length !== known.length) return false;
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string;
    if (name !== known[at] || value[name] !== values[at]) return false;
  }
  return true;
}

/** How many of `size` bytes are the length of the others. */
function lengthBytes(size: number): number {
  return size - 1 < 128 ? 1 : 2;
}

let read: { readonly bytes: Uint8Array; readonly value: JsonObject; readonly depth: number } | undefined;

/** Reads a field that holds JSON. An object is the reader's own at the top, and shared below. */
export function readAgain(reader: Reader, depth: number): unknown {
  const { at } = reader;
  const bytes = reader.octets();
  if (read !== undefined && read.depth <= depth && sameBytes(bytes, read.bytes)) return extended(read.value);
  reader.at = at;
  const value = readJson(reader, depth);
  if (!isObject(value) || bytes.length > KEPT) return value;
  read = { bytes: bytes.slice(), value, depth };
  return extended(value);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
