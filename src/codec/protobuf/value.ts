import { ExactNumber, Fault, type JsonObject } from "../../core/index.js";
import { base64Length, decodeBase64, decodeInto, encodeBase64, isBase64, isShortBase64 } from "../../stream/index.js";
import { malformed, refused, tooDeep } from "./fault.js";
import { setMember } from "./json.js";
import type { Reader } from "./reader.js";
import { isText } from "./text.js";
import type { Writer } from "./writer.js";

/** Deeper than any message from a wire. A deeper value of a program would exhaust the stack. */
export const DEEPEST = 2048;

/** Members of Value. */
const NULL = 0x08;
const NUMBER = 0x11;
const STRING = 0x1a;
const BOOL = 0x20;
const STRUCT = 0x2a;
const LIST = 0x32;
/** The first and the second length-delimited field: entries, keys and elements; values. */
const FIRST = 0x0a;
const SECOND = 0x12;

/** Writes the members of a Struct. Returns false if it cannot hold them: a lone surrogate, or an object that defines its own JSON. */
export function writeStruct(writer: Writer, value: object, depth = 0): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const name of Object.keys(value)) {
    const member = (value as JsonObject)[name];
    if (member === undefined) continue;
    writer.varint(FIRST);
    const entry = writer.open();
    writer.varint(FIRST);
    if (!writer.text(name)) return false;
    writer.varint(SECOND);
    const from = writer.open();
    if (!writeValue(writer, member, depth)) return false;
    writer.close(from);
    writer.close(entry);
  }
  return true;
}

/** Writes the one member of a Value. */
export function writeValue(writer: Writer, value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case "string":
      writer.varint(STRING);
      return writer.text(value);
    case "number":
      if (!Number.isFinite(value)) return writeNull(writer);
      writer.varint(NUMBER);
      writer.double(value);
      return true;
    case "boolean":
      writer.varint(BOOL);
      writer.varint(value ? 1 : 0);
      return true;
    case "object": {
      if (value === null) return writeNull(writer);
      if (value instanceof ExactNumber) return value.isMinusZero && writeValue(writer, -0);
      if (depth > DEEPEST) throw new Fault("overload", "the message is nested too deep", { data: { limit: "depth", max: DEEPEST } });
      const isList = Array.isArray(value);
      writer.varint(isList ? LIST : STRUCT);
      const from = writer.open();
      if (!(isList ? writeList(writer, value, depth + 1) : writeStruct(writer, value, depth + 1))) return false;
      writer.close(from);
      return true;
    }
    default:
      // Not JSON. undefined becomes null, as in an array with JSON.stringify.
      return value === undefined ? writeNull(writer) : false;
  }
}

function writeNull(writer: Writer): true {
  writer.varint(NULL);
  writer.varint(0);
  return true;
}

function writeList(writer: Writer, values: readonly unknown[], depth: number): boolean {
  for (let index = 0; index < values.length; index++) {
    writer.varint(FIRST);
    const from = writer.open();
    if (!writeValue(writer, values[index], depth)) return false;
    writer.close(from);
  }
  return true;
}

/** Reads the rest of the current message as a Struct. `depth`: how many levels there may be, including this one. */
export function readStruct(reader: Reader, depth: number): Record<string, unknown> {
  if (depth <= 0) throw tooDeep();
  const struct: Record<string, unknown> = {};
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag !== FIRST) {
      reader.skip(tag);
      continue;
    }
    const outer = reader.enter();
    let name = "";
    let value: unknown = null;
    while (reader.at < reader.end) {
      const part = reader.tag();
      if (part === FIRST) name = reader.text();
      else if (part === SECOND) {
        const entry = reader.enter();
        value = readValue(reader, depth - 1);
        reader.leave(entry);
      } else reader.skip(part);
    }
    reader.leave(outer);
    setMember(struct, name, value);
  }
  return struct;
}

/** Reads the rest of the current message as a Value. Without a member it is null. */
export function readValue(reader: Reader, depth: number): unknown {
  let value: unknown = null;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    switch (tag) {
      case NULL:
        reader.varint();
        value = null;
        break;
      case NUMBER:
        value = readNumber(reader);
        break;
      case STRING:
        value = reader.text();
        break;
      case BOOL:
        value = reader.varint() !== 0;
        break;
      case STRUCT:
      case LIST: {
        const outer = reader.enter();
        value = tag === STRUCT ? readStruct(reader, depth) : readList(reader, depth);
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return value;
}

/** A double. -0 is kept exactly, because JSON would write it as 0. */
export function readNumber(reader: Reader): number | ExactNumber {
  const number = reader.double();
  return Object.is(number, -0) ? new ExactNumber("-0") : number;
}

/** An int64, exactly. */
export function readInteger(reader: Reader): number | ExactNumber {
  const from = reader.at;
  const number = reader.int64();
  return Number.isSafeInteger(number) ? number : exactly(BigInt.asIntN(64, bitsFrom(reader, from)));
}

/** A uint64, exactly. */
export function readUnsigned(reader: Reader): number | ExactNumber {
  const from = reader.at;
  const number = reader.int64();
  return Number.isSafeInteger(number) && number >= 0 ? number : exactly(BigInt.asUintN(64, bitsFrom(reader, from)));
}

/** The bits of the varint that was just read. */
function bitsFrom(reader: Reader, from: number): bigint {
  let bits = 0n;
  for (let at = reader.at - 1; at >= from; at--) bits = (bits << 7n) | BigInt((reader.bytes[at] ?? 0) & 0x7f);
  return bits;
}

function exactly(integer: bigint): number | ExactNumber {
  const text = String(integer);
  const number = Number(integer);
  return String(number) === text ? number : new ExactNumber(text);
}

function readList(reader: Reader, depth: number): unknown[] {
  if (depth <= 0) throw tooDeep();
  const list: unknown[] = [];
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag !== FIRST) {
      reader.skip(tag);
      continue;
    }
    const outer = reader.enter();
    list.push(readValue(reader, depth - 1));
    reader.leave(outer);
  }
  return list;
}

const PREFIX = "type.googleapis.com/";
const VALUE = `${PREFIX}google.protobuf.Value`;

/** Writes any JSON as an Any that holds a Value. */
export function writeAny(writer: Writer, value: unknown): boolean {
  writer.varint(FIRST);
  writer.text(VALUE);
  writer.varint(SECOND);
  const from = writer.open();
  if (!writeValue(writer, value)) return false;
  writer.close(from);
  return true;
}

/**
 * Reads the rest of the current message as an Any. A type that does not stand for JSON becomes `{ "@type", "value" }`, with the value in
 * base64.
 */
export function readAny(reader: Reader, depth: number): unknown {
  if (depth < 0) throw tooDeep();
  let url = "";
  let from = -1;
  let to = -1;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === FIRST) url = reader.text();
    else if (tag === SECOND) {
      to = reader.limit();
      from = reader.at;
      reader.at = to;
    } else reader.skip(tag);
  }
  const outer = [reader.at, reader.end] as const;
  if (from >= 0) [reader.at, reader.end] = [from, to];
  const value = readNamed(reader, url.slice(url.lastIndexOf("/") + 1), url, depth);
  [reader.at, reader.end] = outer;
  return value;
}

function readNamed(reader: Reader, type: string, url: string, depth: number): unknown {
  switch (type) {
    case "google.protobuf.Value":
      return readValue(reader, depth);
    case "google.protobuf.Struct":
      return readStruct(reader, depth);
    case "google.protobuf.ListValue":
      return readList(reader, depth);
    case "google.protobuf.Any":
      return readAny(reader, depth - 1);
    case "google.protobuf.StringValue":
      return readWrapped(reader, FIRST, () => reader.text(), "");
    case "google.protobuf.BoolValue":
      return readWrapped(reader, NULL, () => reader.varint() !== 0, false);
    case "google.protobuf.DoubleValue":
      return readWrapped(reader, 0x09, () => readNumber(reader), 0);
    case "google.protobuf.Int32Value":
    case "google.protobuf.Int64Value":
      return readWrapped(reader, NULL, () => readInteger(reader), 0);
    default:
      if (url === "") {
        if (reader.at === reader.end) return null;
        throw refused("a value does not say its type");
      }
      if (depth === 0) throw tooDeep();
      return { "@type": url, value: encodeBase64(reader.bytes.subarray(reader.at, reader.end)) };
  }
}

function readWrapped(reader: Reader, expected: number, read: () => unknown, initial: unknown): unknown {
  let value = initial;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === expected) value = read();
    else if (tag >>> 3 === 1) throw malformed("a field has the wrong wire type");
    else reader.skip(tag);
  }
  return value;
}

/** Types that an Any is read from as JSON. */
const plain: ReadonlySet<string> = new Set(
  ["Value", "Struct", "ListValue", "Any", "StringValue", "BoolValue", "DoubleValue", "Int32Value", "Int64Value"].map(
    (name) => `google.protobuf.${name}`,
  ),
);

/** Whether an object has the form of an Any whose type does not stand for JSON. */
export function isTyped(value: unknown): value is { readonly "@type": string; readonly value: string } {
  if (typeof value !== "object" || value === null) return false;
  const { "@type": url, value: text } = value as JsonObject;
  if (typeof url !== "string" || typeof text !== "string") return false;
  let members = 0;
  for (const _ in value) if (++members > 2) return false;
  return namesType(url) && isCanonical(text);
}

/** Base64 up to this length is decoded where it is to stand, and a URL up to it is remembered. */
const SHORT = 512;

/** What was last found to name a type: mostly it is the same again. */
let named = "";

function namesType(url: string): boolean {
  if (url === named && url !== "") return true;
  if (url === "" || !isText(url) || plain.has(url.slice(url.lastIndexOf("/") + 1))) return false;
  named = url.length <= SHORT ? url : "";
  return true;
}

const STRUCT_URL = `${PREFIX}google.protobuf.Struct`;

/** Writes an object as an Any: of the type that it names, or of Struct. */
export function writeTyped(writer: Writer, value: JsonObject): boolean {
  if (isTyped(value)) return writeBase64(writer, value["@type"], value.value);
  writer.varint(FIRST);
  writer.text(STRUCT_URL);
  writer.varint(SECOND);
  const from = writer.open();
  if (!writeStruct(writer, value)) return false;
  writer.close(from);
  return true;
}

function writeBase64(writer: Writer, typeUrl: string, text: string): boolean {
  if (text.length > SHORT) return writePacked(writer, { typeUrl, value: octetsOf(text) });
  writer.varint(FIRST);
  writer.text(typeUrl);
  writer.varint(SECOND);
  const length = base64Length(text);
  writer.varint(length);
  // The last group may be written whole.
  writer.room(length + 2);
  decodeInto(text, writer.bytes, writer.at);
  writer.at += length;
  return true;
}

/** An Any with whatever is in it: `{ typeUrl, value }`. */
export function writePacked(writer: Writer, { typeUrl, value }: JsonObject): boolean {
  if (typeof typeUrl !== "string" || !(value instanceof Uint8Array)) return false;
  writer.varint(FIRST);
  if (!writer.text(typeUrl)) return false;
  writer.varint(SECOND);
  writer.octets(value);
  return true;
}

/** Reads the rest of the current message as an Any without looking into it. The value is a view of the received bytes. */
export function readPacked(reader: Reader): { readonly typeUrl: string; readonly value: Uint8Array } {
  let typeUrl = "";
  let value: Uint8Array = new Uint8Array(0);
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === FIRST) typeUrl = reader.text();
    else if (tag === SECOND) value = reader.octets();
    else reader.skip(tag);
  }
  return { typeUrl, value };
}

/** How the last group of canonical base64 may end before its padding. */
const ends = [undefined, /[AEIMQUYcgkosw048]=$/, /[AQgw]==$/];

/** Whether a text is canonical base64. */
function isCanonical(text: string): boolean {
  return text.length <= SHORT ? isShortBase64(text) : endsWell(text) && isBase64(text);
}

function endsWell(text: string): boolean {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return padding === 0 || ends[padding]?.test(text.slice(-4)) === true;
}

/** The bytes of canonical base64; undefined of anything else. */
export function octetsOf(text: string): Uint8Array | undefined {
  if (text.length <= SHORT) return isShortBase64(text) ? decodeInto(text, new Uint8Array(base64Length(text)), 0) : undefined;
  if (!endsWell(text)) return undefined;
  try {
    return decodeBase64(text);
  } catch {
    return undefined;
  }
}
