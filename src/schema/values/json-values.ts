import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ExactNumber, schemaLimits } from "../../core/index.js";
import { badValue, deepValue, manyValues } from "../fault.js";

/** google.protobuf.Value, Struct and ListValue, which stand for any JSON. */
export type JsonKind = "Value" | "Struct" | "ListValue";

export function writeJson(writer: BinaryWriter, kind: JsonKind, value: unknown, path: string, depth = 0): void {
  if (depth > schemaLimits.valueDepth) throw deepValue(path);
  if (kind === "ListValue") {
    if (!Array.isArray(value)) throw badValue("must be array", path);
    for (const [index, each] of value.entries()) {
      writer.tag(1, WireType.LengthDelimited).fork();
      writeJson(writer, "Value", each, `${path}[${index}]`, depth + 1);
      writer.join();
    }
    return;
  }
  if (kind === "Struct") {
    if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof ExactNumber)
      throw badValue("must be object", path);
    for (const [name, each] of Object.entries(value)) {
      if (each === undefined) continue;
      writer.tag(1, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(text(name, path));
      writer.tag(2, WireType.LengthDelimited).fork();
      writeJson(writer, "Value", each, `${path}.${name}`, depth + 1);
      writer.join().join();
    }
    return;
  }
  switch (typeof value) {
    case "string":
      writer.tag(3, WireType.LengthDelimited).string(text(value, path));
      return;
    case "number":
      writer.tag(2, WireType.Bit64).double(finite(value, path));
      return;
    case "boolean":
      writer.tag(4, WireType.Varint).bool(value);
      return;
    default:
      break;
  }
  if (value === null) writer.tag(1, WireType.Varint).int32(0);
  else if (value instanceof ExactNumber) writer.tag(2, WireType.Bit64).double(doubleOf(value, path));
  else if (typeof value === "object") {
    const isList = Array.isArray(value);
    writer.tag(isList ? 6 : 5, WireType.LengthDelimited).fork();
    writeJson(writer, isList ? "ListValue" : "Struct", value, path, depth);
    writer.join();
  } else throw badValue("is not JSON", path);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** How many more values a message may have. */
export interface Allowance {
  values: number;
}

export function readJson(reader: BinaryReader, end: number, kind: JsonKind, allowance: Allowance, path: string, depth = 0): unknown {
  if (depth > schemaLimits.valueDepth) throw deepValue(path);
  if (--allowance.values < 0) throw manyValues(path);
  const list: unknown[] = [];
  const members = new Map<string, unknown>();
  let value: unknown = null;
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (kind === "ListValue" && number === 1 && wire === WireType.LengthDelimited)
      list.push(readJson(reader, endOf(reader), "Value", allowance, path, depth + 1));
    else if (kind === "Struct" && number === 1 && wire === WireType.LengthDelimited) {
      const [name, member] = readEntry(reader, (inner) => readJson(inner, endOf(inner), "Value", allowance, path, depth + 1));
      members.set(name, member ?? null);
    } else if (kind === "Value") value = readMember(reader, number, wire, allowance, path, depth) ?? value;
    else reader.skip(wire, number);
  }
  return kind === "ListValue" ? list : kind === "Struct" ? Object.fromEntries(members) : value === NOTHING ? null : value;
}

const NOTHING = Symbol("null");

function readMember(reader: BinaryReader, number: number, wire: WireType, allowance: Allowance, path: string, depth: number): unknown {
  const expected = {
    1: WireType.Varint,
    2: WireType.Bit64,
    3: WireType.LengthDelimited,
    4: WireType.Varint,
    5: WireType.LengthDelimited,
    6: WireType.LengthDelimited,
  }[number];
  if (expected !== wire) {
    reader.skip(wire, number);
    return undefined;
  }
  switch (number) {
    case 1:
      reader.int32();
      return NOTHING;
    case 2:
      return numberOf(reader.double(), path);
    case 3:
      return readText(reader);
    case 4:
      return reader.bool();
    default:
      return readJson(reader, endOf(reader), number === 5 ? "Struct" : "ListValue", allowance, path, depth);
  }
}

/** A map entry with a text key. Its value is undefined if the entry has none. */
export function readEntry<T>(reader: BinaryReader, read: (reader: BinaryReader) => T): [string, T | undefined] {
  const end = endOf(reader);
  let key = "";
  let value: T | undefined;
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === WireType.LengthDelimited) key = readText(reader);
    else if (number === 2) value = read(reader);
    else reader.skip(wire, number);
  }
  return [key, value];
}

/** The end of the length-delimited field that begins here. */
export function endOf(reader: BinaryReader): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > reader.len) throw new RangeError("premature EOF");
  return end;
}

export function readText(reader: BinaryReader): string {
  return utf8.decode(reader.bytes());
}

/** A number for JSON; -0 keeps its sign. */
export function numberOf(value: number, path: string): number | ExactNumber {
  finite(value, path);
  return Object.is(value, -0) ? new ExactNumber("-0") : value;
}

export function finite(value: number, path: string): number {
  if (!Number.isFinite(value)) throw badValue(`is ${value}, which JSON does not have`, path);
  return value;
}

export function doubleOf(value: ExactNumber, path: string): number {
  if (value.isMinusZero) return -0;
  throw badValue(`is the number ${value.text.slice(0, 40)}, which a double cannot hold exactly`, path);
}

const surrogate = /\p{Surrogate}/u;

export function text(value: string, path: string): string {
  if (surrogate.test(value)) throw badValue("has half a character (a lone surrogate), which protobuf cannot hold", path);
  return value;
}
