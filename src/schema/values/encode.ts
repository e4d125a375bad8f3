import { type DescField, type DescMessage, fromJson, ScalarType, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, base64Decode, WireType } from "@bufbuild/protobuf/wire";
import { ExactNumber, isObject, type JsonObject, schemaLimits } from "../../core/index.js";
import { badValue, deepValue } from "../fault.js";
import { doubleOf, finite, type JsonKind, text, writeJson } from "./json-values.js";
import type { FieldPlan, MessagePlan, Plans } from "./plan.js";

/** Writes a JSON value as a message. Throws a Fault that names the member that does not fit. */
export function encodeValue(value: unknown, desc: DescMessage, plans: Plans, path: string): Uint8Array {
  const writer = new BinaryWriter();
  new Encoder(plans, writer).message(desc, value, path, 0);
  return writer.finish();
}

const jsonKinds: Readonly<Record<string, JsonKind>> = {
  "google.protobuf.Value": "Value",
  "google.protobuf.Struct": "Struct",
  "google.protobuf.ListValue": "ListValue",
};

/** The kind of JSON that a message stands for, if any. */
export function jsonKindOf(desc: DescMessage): JsonKind | undefined {
  return Object.hasOwn(jsonKinds, desc.typeName) ? jsonKinds[desc.typeName] : undefined;
}

/** Whether a message has a special form in JSON. */
export function hasOwnJson(desc: DescMessage): boolean {
  return /^google\.protobuf\.(?:Timestamp|Duration|FieldMask|\w+Value)$/.test(desc.typeName) && jsonKindOf(desc) === undefined;
}

class Encoder {
  readonly #plans: Plans;
  readonly #writer: BinaryWriter;

  constructor(plans: Plans, writer: BinaryWriter) {
    this.#plans = plans;
    this.#writer = writer;
  }

  message(desc: DescMessage, value: unknown, path: string, depth: number): void {
    if (depth > schemaLimits.valueDepth) throw deepValue(path);
    const kind = jsonKindOf(desc);
    if (kind !== undefined) return writeJson(this.#writer, kind, value, path, depth);
    if (hasOwnJson(desc)) return this.#ownJson(desc, value, path);
    if (!isObject(value)) throw badValue("must be object", path);
    const plan = this.#plans.of(desc);
    if (plan.variants !== undefined) return this.#variant(plan, value, path, depth);
    const overflow: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const field = plan.byProperty.get(name);
      if (field !== undefined) {
        if (!this.#property(field, member, `${path}.${name}`, depth)) overflow.push([name, member]);
      } else if (plan.oneofs.has(name)) this.#oneof(plan, name, member, `${path}.${name}`, depth);
      else if (plan.open) overflow.push([name, member]);
      else throw badValue("must NOT have additional properties", `${path}.${name}`);
    }
    for (const { property, required } of plan.byProperty.values())
      if (required && !(Object.hasOwn(value, property) && value[property] !== undefined))
        throw badValue("is required", `${path}.${property}`);
    if (plan.overflow !== undefined) this.#entries(plan.overflow, overflow, path, depth);
  }

  #ownJson(desc: DescMessage, value: unknown, path: string): void {
    try {
      this.#writer.raw(toBinary(desc, fromJson(desc, value as string)));
    } catch (error) {
      throw badValue(`is no ${desc.typeName}: ${(error as Error).message}`, path);
    }
  }

  #variant({ variants, desc }: MessagePlan, value: JsonObject, path: string, depth: number): void {
    const { property, byValue } = variants as NonNullable<MessagePlan["variants"]>;
    const named = Object.hasOwn(value, property) ? value[property] : undefined;
    const field = typeof named === "string" ? byValue.get(named) : undefined;
    if (field === undefined)
      throw badValue(`must be one of ${[...byValue.keys()].map((each) => JSON.stringify(each)).join(", ")}`, `${path}.${property}`);
    this.#single(field.desc, value, path, depth);
    void desc;
  }

  /** Writes a property. Returns false if no field can express it, so that it goes to the overflow. */
  #property(plan: FieldPlan, value: unknown, path: string, depth: number): boolean {
    const { desc, nullable, required } = plan;
    const takesNull = desc.message !== undefined && desc.fieldKind === "message" && desc.message.typeName === "google.protobuf.Value";
    if (value === null && !takesNull) {
      if (nullable === false) throw badValue("must not be null", path);
      // If the property is required, absent means null.
      return required && desc.fieldKind !== "list" && desc.fieldKind !== "map";
    }
    switch (desc.fieldKind) {
      case "list":
        if (!Array.isArray(value)) throw badValue("must be array", path);
        this.#list(desc, value, path, depth);
        // The rule of an optional list does not cover an empty one, which goes to the overflow.
        if (value.length === 0 && plan.least > 0) throw badValue(`must NOT have fewer than ${plan.least} items`, path);
        return required || value.length > 0;
      case "map":
        if (!isObject(value)) throw badValue("must be object", path);
        this.#entries(
          desc,
          Object.entries(value).filter(([, member]) => member !== undefined),
          path,
          depth,
        );
        if (Object.keys(value).length === 0 && plan.least > 0) throw badValue(`must NOT have fewer than ${plan.least} properties`, path);
        return required || Object.keys(value).length > 0;
      default:
        this.#single(desc, value, path, depth);
        return true;
    }
  }

  #oneof({ oneofs }: MessagePlan, name: string, value: unknown, path: string, depth: number): void {
    const fields = oneofs.get(name)?.fields ?? [];
    const field = isObject(value) ? fields.find((each) => each.jsonName === value["case"]) : undefined;
    if (field === undefined || !isObject(value))
      throw badValue(
        `must be an object with a "case", one of ${fields.map((each) => JSON.stringify(each.jsonName)).join(", ")}, and a "value"`,
        path,
      );
    this.#single(field, value["value"], `${path}.value`, depth);
  }

  #single(desc: DescField, value: unknown, path: string, depth: number): void {
    if (desc.message !== undefined) {
      this.#writer.tag(desc.number, WireType.LengthDelimited).fork();
      this.message(desc.message, value, path, depth + 1);
      this.#writer.join();
    } else if (desc.enum !== undefined) this.#writer.tag(desc.number, WireType.Varint).int32(enumNumber(desc, value, path));
    else if (desc.scalar !== undefined) {
      this.#writer.tag(desc.number, wireTypes[desc.scalar]);
      writeScalar(this.#writer, desc.scalar, value, path);
    }
  }

  #list(desc: DescField & { readonly fieldKind: "list" }, values: readonly unknown[], path: string, depth: number): void {
    const { listKind, packed } = desc;
    if (listKind !== "message" && packed && values.length > 0) {
      this.#writer.tag(desc.number, WireType.LengthDelimited).fork();
      for (const [index, value] of values.entries()) {
        if (listKind === "enum") this.#writer.int32(enumNumber(desc, value, `${path}[${index}]`));
        else writeScalar(this.#writer, desc.scalar, value, `${path}[${index}]`);
      }
      this.#writer.join();
    } else for (const [index, value] of values.entries()) this.#single(desc, value, `${path}[${index}]`, depth);
  }

  #entries(desc: DescField, entries: readonly (readonly [string, unknown])[], path: string, depth: number): void {
    if (desc.fieldKind !== "map") return;
    for (const [name, value] of entries) {
      this.#writer.tag(desc.number, WireType.LengthDelimited).fork();
      this.#writer.tag(1, wireTypes[desc.mapKey]);
      writeScalar(
        this.#writer,
        desc.mapKey,
        desc.mapKey === ScalarType.STRING ? name : desc.mapKey === ScalarType.BOOL ? name === "true" : Number(name),
        path,
      );
      this.#single({ ...(desc as object), number: 2, fieldKind: desc.mapKind } as unknown as DescField, value, `${path}.${name}`, depth);
      this.#writer.join();
    }
  }
}

function enumNumber(desc: DescField, value: unknown, path: string): number {
  if (desc.enum?.typeName === "google.protobuf.NullValue" && value === null) return 0;
  const found = desc.enum?.values.find((each) => each.name === value)?.number;
  if (found === undefined) throw badValue(`must be one of ${desc.enum?.values.map((each) => each.name).join(", ")}`, path);
  return found;
}

export const wireTypes: Readonly<Record<ScalarType, WireType>> = {
  [ScalarType.DOUBLE]: WireType.Bit64,
  [ScalarType.FLOAT]: WireType.Bit32,
  [ScalarType.INT64]: WireType.Varint,
  [ScalarType.UINT64]: WireType.Varint,
  [ScalarType.INT32]: WireType.Varint,
  [ScalarType.FIXED64]: WireType.Bit64,
  [ScalarType.FIXED32]: WireType.Bit32,
  [ScalarType.BOOL]: WireType.Varint,
  [ScalarType.STRING]: WireType.LengthDelimited,
  [ScalarType.BYTES]: WireType.LengthDelimited,
  [ScalarType.UINT32]: WireType.Varint,
  [ScalarType.SFIXED32]: WireType.Bit32,
  [ScalarType.SFIXED64]: WireType.Bit64,
  [ScalarType.SINT32]: WireType.Varint,
  [ScalarType.SINT64]: WireType.Varint,
};

const TWO_31 = 2n ** 31n;
const TWO_63 = 2n ** 63n;
type IntegerName = "int32" | "int64" | "uint32" | "uint64" | "fixed32" | "fixed64" | "sfixed32" | "sfixed64" | "sint32" | "sint64";
const integers: Partial<Record<ScalarType, readonly [name: IntegerName, min: bigint, max: bigint]>> = {
  [ScalarType.INT32]: ["int32", -TWO_31, TWO_31 - 1n],
  [ScalarType.SINT32]: ["sint32", -TWO_31, TWO_31 - 1n],
  [ScalarType.SFIXED32]: ["sfixed32", -TWO_31, TWO_31 - 1n],
  [ScalarType.UINT32]: ["uint32", 0n, 2n * TWO_31 - 1n],
  [ScalarType.FIXED32]: ["fixed32", 0n, 2n * TWO_31 - 1n],
  [ScalarType.INT64]: ["int64", -TWO_63, TWO_63 - 1n],
  [ScalarType.SINT64]: ["sint64", -TWO_63, TWO_63 - 1n],
  [ScalarType.SFIXED64]: ["sfixed64", -TWO_63, TWO_63 - 1n],
  [ScalarType.UINT64]: ["uint64", 0n, 2n * TWO_63 - 1n],
  [ScalarType.FIXED64]: ["fixed64", 0n, 2n * TWO_63 - 1n],
};

function writeScalar(writer: BinaryWriter, type: ScalarType, value: unknown, path: string): void {
  const integer = integers[type];
  if (integer !== undefined) {
    const [name, min, max] = integer;
    const whole = wholeNumber(value, path);
    if (whole < min || whole > max) throw badValue(`is out of the range of ${name}`, path);
    if (name.endsWith("64")) writer[name](whole as never);
    else writer[name](Number(whole) as never);
    return;
  }
  switch (type) {
    case ScalarType.STRING:
      if (typeof value !== "string") throw badValue("must be string", path);
      writer.string(text(value, path));
      return;
    case ScalarType.BOOL:
      if (typeof value !== "boolean") throw badValue("must be boolean", path);
      writer.bool(value);
      return;
    case ScalarType.BYTES:
      if (typeof value !== "string") throw badValue("must be a string of base64", path);
      writer.bytes(bytesOf(value, path));
      return;
    default: {
      const given = value instanceof ExactNumber ? doubleOf(value, path) : value;
      if (typeof given !== "number") throw badValue("must be number", path);
      if (type === ScalarType.FLOAT) writer.float(finite(given, path));
      else writer.double(finite(given, path));
    }
  }
}

function bytesOf(value: string, path: string): Uint8Array {
  try {
    return base64Decode(value);
  } catch {
    throw badValue("must be a string of base64", path);
  }
}

function wholeNumber(value: unknown, path: string): bigint {
  // Beyond 2^53 a number means the digits that JSON prints for it. A text with an exponent is not a protobuf integer.
  if (typeof value === "number" && Number.isInteger(value)) return BigInt(Math.abs(value) < 1e21 ? String(value) : value);
  if (value instanceof ExactNumber && /^-?[0-9]{1,20}$/.test(value.text) && !value.isMinusZero) return BigInt(value.text);
  throw badValue(value instanceof ExactNumber ? "is a number that no integer of protobuf can hold" : "must be integer", path);
}
