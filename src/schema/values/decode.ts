import { type DescField, type DescMessage, fromBinary, ScalarType, toJson } from "@bufbuild/protobuf";
import { BinaryReader, base64Encode, WireType } from "@bufbuild/protobuf/wire";
import { ExactNumber, Fault, fixedLimits, schemaLimits } from "../../core/index.js";
import { badValue, deepValue, manyValues } from "../fault.js";
import { hasOwnJson, jsonKindOf, wireTypes } from "./encode.js";
import { type Allowance, endOf, numberOf, readEntry, readJson, readText } from "./json-values.js";
import { keysOf, type MessagePlan, type Plans } from "./plan.js";

/** Reads a message as a JSON value. Throws a Fault if the bytes are not such a message. */
export function decodeValue(bytes: Uint8Array, desc: DescMessage, plans: Plans, path: string): unknown {
  try {
    return new Decoder(plans).message(desc, bytes, path, 0);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault("parse", `${path}: the bytes are no ${desc.typeName}: ${(error as Error).message}`, { cause: error });
  }
}

class Decoder {
  readonly #plans: Plans;
  readonly #allowance: Allowance = { values: fixedLimits.messageValues };

  constructor(plans: Plans) {
    this.#plans = plans;
  }

  message(desc: DescMessage, bytes: Uint8Array, path: string, depth: number): unknown {
    if (depth > schemaLimits.valueDepth) throw deepValue(path);
    if (--this.#allowance.values < 0) throw manyValues(path);
    const kind = jsonKindOf(desc);
    const reader = new BinaryReader(bytes);
    if (kind !== undefined) return readJson(reader, reader.len, kind, this.#allowance, path, depth);
    if (hasOwnJson(desc)) return toJson(desc, fromBinary(desc, bytes));
    const plan = this.#plans.of(desc);
    const read = this.#fields(plan, reader, path, depth);
    return plan.variants === undefined ? this.#object(plan, read, path) : this.#variant(plan, read, path);
  }

  /** The fields of the message, by number; those of the overflow under 0. */
  #fields({ byNumber, overflow }: MessagePlan, reader: BinaryReader, path: string, depth: number): Map<number, unknown> {
    const read = new Map<number, unknown>();
    /** A message that comes in several pieces is merged. */
    const pieces = new Map<number, Uint8Array[]>();
    while (reader.pos < reader.len) {
      const [number, wire] = reader.tag();
      const desc = number === overflow?.number ? overflow : byNumber.get(number)?.desc;
      if (desc === undefined) reader.skip(wire, number);
      else if (desc.fieldKind === "map") this.#entry(desc, reader, read, path, depth);
      else if (desc.fieldKind === "list") this.#elements(desc, reader, wire, read, path, depth);
      else if (desc.fieldKind === "message") {
        if (wire !== WireType.LengthDelimited) throw wrongWire(desc);
        const before = pieces.get(number);
        if (before === undefined) pieces.set(number, [reader.bytes()]);
        else before.push(reader.bytes());
        replaced(desc, pieces, read);
      } else {
        if (wire !== wireOf(desc)) throw wrongWire(desc);
        replaced(desc, pieces, read);
        read.set(number, scalar(desc, reader, place(path, desc)));
      }
    }
    for (const [number, [first = new Uint8Array(), ...more]] of pieces) {
      const desc = byNumber.get(number)?.desc;
      const whole = more.length === 0 ? first : Buffer.concat([first, ...more]);
      if (desc?.message !== undefined) read.set(number, this.message(desc.message, whole, place(path, desc), depth + 1));
    }
    return read;
  }

  #entry(
    desc: DescField & { readonly fieldKind: "map" },
    reader: BinaryReader,
    read: Map<number, unknown>,
    path: string,
    depth: number,
  ): void {
    const map = (read.get(desc.number) as Map<string, unknown> | undefined) ?? new Map<string, unknown>();
    read.set(desc.number, map);
    if (--this.#allowance.values < 0) throw manyValues(path);
    if (desc.mapKey !== ScalarType.STRING) throw badValue("is a map whose keys are no text, which is not supported", place(path, desc));
    const inner = `${place(path, desc)}.…`;
    const [key, value] = readEntry(reader, (entry) =>
      desc.mapKind === "message" ? this.message(desc.message, entry.bytes(), inner, depth + 1) : scalar(desc, entry, inner),
    );
    map.set(key, value ?? (desc.mapKind === "message" ? this.message(desc.message, new Uint8Array(), inner, depth + 1) : zero(desc)));
  }

  #elements(
    desc: DescField & { readonly fieldKind: "list" },
    reader: BinaryReader,
    wire: WireType,
    read: Map<number, unknown>,
    path: string,
    depth: number,
  ): void {
    const list = (read.get(desc.number) as unknown[] | undefined) ?? [];
    read.set(desc.number, list);
    const inner = `${place(path, desc)}[${list.length}]`;
    if (desc.listKind === "message") {
      if (wire !== WireType.LengthDelimited) throw wrongWire(desc);
      list.push(this.message(desc.message, reader.bytes(), inner, depth + 1));
      return;
    }
    const own = wireOf(desc);
    if (wire === own) list.push(this.#counted(scalar(desc, reader, inner), path));
    else if (wire !== WireType.LengthDelimited) throw wrongWire(desc);
    else for (const end = endOf(reader); reader.pos < end; ) list.push(this.#counted(scalar(desc, reader, inner), path));
  }

  #counted<T>(value: T, path: string): T {
    if (--this.#allowance.values < 0) throw manyValues(path);
    return value;
  }

  #variant({ desc }: MessagePlan, read: ReadonlyMap<number, unknown>, path: string): unknown {
    const [value] = read.values();
    if (value === undefined) throw badValue(`must be one of ${desc.fields.map((field) => field.name).join(", ")}`, path);
    return value;
  }

  #object(plan: MessagePlan, read: ReadonlyMap<number, unknown>, path: string): unknown {
    const members: [string, unknown][] = [];
    const overflow = plan.overflow === undefined ? undefined : (read.get(plan.overflow.number) as Map<string, unknown> | undefined);
    const keys = plan.overflow === undefined ? undefined : keysOf(plan.overflow);
    const allowed = keys && new Set(keys);
    for (const { desc, property, required, nullable } of plan.byNumber.values()) {
      if (desc.oneof !== undefined) continue;
      const value = read.get(desc.number);
      if (value instanceof Map) members.push([property, Object.fromEntries(value)]);
      else if (value !== undefined) members.push([property, value]);
      else if (overflow?.has(property) === true) members.push([property, unsaid(overflow.get(property), desc, `${path}.${property}`)]);
      else if (required) {
        const absent = desc.fieldKind === "list" ? [] : desc.fieldKind === "map" ? {} : nullable === true ? null : undefined;
        if (absent === undefined) throw badValue("is required", `${path}.${property}`);
        members.push([property, absent]);
      } else if (desc.presence === 2 && desc.fieldKind !== "list" && desc.fieldKind !== "map") members.push([property, zero(desc)]);
    }
    for (const [name, oneof] of plan.oneofs) {
      const set = oneof.fields.find((field) => read.has(field.number));
      if (set !== undefined) members.push([name, { case: set.jsonName, value: read.get(set.number) }]);
    }
    for (const [name, value] of overflow ?? []) {
      if (allowed !== undefined && !allowed.has(name)) throw badValue("must NOT have additional properties", `${path}.${name}`);
      if (!plan.byProperty.has(name)) members.push([name, value]);
      else if (read.has(plan.byProperty.get(name)?.desc.number ?? 0))
        throw badValue("is there twice, as a field and as an additional property", `${path}.${name}`);
    }
    return Object.fromEntries(members);
  }
}

/** What the overflow may say about a property that has a field: null, or that it is present and empty. */
function unsaid(value: unknown, desc: DescField, path: string): unknown {
  const isEmptyList = desc.fieldKind === "list" && Array.isArray(value) && value.length === 0;
  const isEmptyMap =
    desc.fieldKind === "map" && typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
  if (value !== null && !isEmptyList && !isEmptyMap) throw badValue("has a field of its own, and is no additional property", path);
  return value;
}

/** Of a oneof, the last member counts. */
function replaced(desc: DescField, ...kept: readonly Map<number, unknown>[]): void {
  for (const other of desc.oneof?.fields ?? []) if (other !== desc) for (const each of kept) each.delete(other.number);
}

function place(path: string, desc: DescField): string {
  return `${path}.${desc.jsonName}`;
}

function wireOf(desc: DescField): WireType {
  return desc.enum !== undefined || desc.scalar === undefined ? WireType.Varint : wireTypes[desc.scalar];
}

function wrongWire(desc: DescField): Error {
  return new Error(`the field ${desc.name} has another type on the wire`);
}

function zero(desc: DescField): unknown {
  if (desc.enum !== undefined) return desc.enum.values[0]?.name;
  return desc.scalar === ScalarType.STRING || desc.scalar === ScalarType.BYTES ? "" : desc.scalar === ScalarType.BOOL ? false : 0;
}

function scalar(desc: DescField, reader: BinaryReader, path: string): unknown {
  if (desc.enum !== undefined) {
    const number = reader.int32();
    return desc.enum.typeName === "google.protobuf.NullValue" ? null : (desc.enum.value[number]?.name ?? number);
  }
  switch (desc.scalar) {
    case ScalarType.STRING:
      return readText(reader);
    case ScalarType.BOOL:
      return reader.bool();
    case ScalarType.BYTES:
      return base64Encode(reader.bytes());
    case ScalarType.DOUBLE:
      return numberOf(reader.double(), path);
    case ScalarType.FLOAT:
      return numberOf(reader.float(), path);
    default:
      return whole(integerOf(desc.scalar, reader));
  }
}

function integerOf(type: ScalarType | undefined, reader: BinaryReader): bigint {
  switch (type) {
    case ScalarType.INT64:
      return BigInt(reader.int64());
    case ScalarType.UINT64:
      return BigInt(reader.uint64());
    case ScalarType.SINT64:
      return BigInt(reader.sint64());
    case ScalarType.FIXED64:
      return BigInt(reader.fixed64());
    case ScalarType.SFIXED64:
      return BigInt(reader.sfixed64());
    case ScalarType.UINT32:
      return BigInt(reader.uint32());
    case ScalarType.SINT32:
      return BigInt(reader.sint32());
    case ScalarType.FIXED32:
      return BigInt(reader.fixed32());
    case ScalarType.SFIXED32:
      return BigInt(reader.sfixed32());
    default:
      return BigInt(reader.int32());
  }
}

/** An integer for JSON: a number, or its exact digits if a number would print others. */
function whole(value: bigint): number | ExactNumber {
  const number = Number(value);
  return String(number) === String(value) ? number : new ExactNumber(String(value));
}
