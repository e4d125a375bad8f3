import { Fault, isObject, type JsonObject } from "../../core/index.js";
import { decodeBase64 } from "../../stream/index.js";
import { OTHER_MEMBERS } from "./field.js";
import { setMember, stringify } from "./json.js";
import type { Slot, Table } from "./table.js";
import { writeAny, writeStruct, writeValue } from "./value.js";
import type { Writer } from "./writer.js";

const OTHERS = OTHER_MEMBERS * 8 + 2;
/** Tags of a map's entry: its key and its value; also the first field of a message. */
const KEY = 0x0a;
const VALUE = 0x12;

export interface EncodeOptions {
  /** Fields that have a twin are written as JSON. The peer has to have said that it reads them. */
  readonly twin: boolean;
}

/** Writes an object as the members of a message. `without`: a member of its `_meta` that stands outside the message. */
export function writeMessage(writer: Writer, table: Table, value: JsonObject, options: EncodeOptions, without?: string): void {
  let others: Record<string, unknown> | undefined;
  let empty: string | undefined;
  let seen = 0;
  let variant: Slot | undefined;
  if (table.variants !== undefined) {
    variant = table.variants.get(value["type"] as string);
    if (variant !== undefined) writeVariant(writer, table, variant, value, options);
  }
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    const slot = table.byMember.get(name);
    if (slot === undefined) {
      if (variant !== undefined && (name === "type" || variantHas(variant, name))) continue;
      if (table.rest !== undefined && typeof member === "string" && writeEntry(writer, table.rest.tag, name, member)) continue;
    } else if ((seen & slot.mask) === 0) {
      const at = writer.at;
      const bits =
        name === "_meta"
          ? writeMeta(writer, table, slot, member, options, without)
          : writeSlot(writer, slot, member, options)
            ? slot.bit
            : 0;
      if (bits !== 0) {
        // An empty array leaves no bytes: it is the default, or it has to be said.
        if (writer.at === at && slot.repeated) {
          if (slot.field.initial === undefined) setMember((others ??= {}), name, member);
          else empty = name;
        }
        seen |= bits;
        continue;
      }
      writer.at = at;
    }
    setMember((others ??= {}), name, member);
  }
  if (others === undefined && (table.required & ~seen) === 0) return;
  if (empty !== undefined) setMember((others ??= {}), empty, []);
  writer.varint(OTHERS);
  if (others === undefined) writer.varint(0);
  else writer.text(stringify(others) ?? "{}");
}

/** The members of the object that are the variant's and not the message's own. */
function writeVariant(writer: Writer, table: Table, variant: Slot, value: JsonObject, options: EncodeOptions): void {
  const inner = variant.table as Table;
  const members: Record<string, unknown> = {};
  for (const name of inner.byMember.keys()) {
    if (!table.byMember.has(name) && Object.hasOwn(value, name)) members[name] = value[name];
  }
  writer.varint(variant.tag);
  const from = writer.open();
  writeMessage(writer, inner, members, options);
  writer.close(from);
}

function variantHas(variant: Slot, name: string): boolean {
  return variant.table?.byMember.has(name) === true;
}

/**
 * `_meta` without the members that have fields of their own; the bits of what was written, 0 if it does not fit. A member that leaves
 * no bytes in its fields stays in `_meta`.
 */
function writeMeta(writer: Writer, table: Table, slot: Slot, meta: unknown, options: EncodeOptions, without: string | undefined): number {
  const { lifts } = table;
  if (!isObject(meta) || (lifts === undefined && without === undefined)) return writeSlot(writer, slot, meta, options) ? slot.bit : 0;
  let rest: Record<string, unknown> | undefined;
  let bits = slot.bit;
  let lifted = 0;
  for (const name of Object.keys(meta)) {
    const lift = lifts?.get(name);
    const at = writer.at;
    if (name === without) lifted++;
    else if (lift !== undefined && writeSlot(writer, lift, meta[name], options) && writer.at > at) {
      lifted++;
      bits |= lift.bit;
    } else {
      writer.at = at;
      setMember((rest ??= {}), name, meta[name]);
    }
  }
  return (lifted > 0 && rest === undefined) || writeSlot(writer, slot, rest ?? {}, options) ? bits : 0;
}

/** Writes a field; false if the value does not fit, with bytes to be undone. */
function writeSlot(writer: Writer, slot: Slot, value: unknown, options: EncodeOptions): boolean {
  switch (slot.role) {
    case "string":
    case "constant":
      if (typeof value !== "string") return false;
      writer.varint(slot.tag);
      return writer.text(value);
    case "bool":
      if (typeof value !== "boolean") return false;
      writer.varint(slot.tag);
      writer.varint(value ? 1 : 0);
      return true;
    case "int32":
      return typeof value === "number" && value === (value | 0) && writeInteger(writer, slot.tag, value);
    case "int64":
      return Number.isSafeInteger(value) && writeInteger(writer, slot.tag, value as number);
    case "double":
      if (typeof value !== "number" || !Number.isFinite(value)) return false;
      writer.varint(slot.tag);
      writer.double(value);
      return true;
    case "role":
      return writeEnum(writer, slot.tag, roles.indexOf(value as string));
    case "change":
      return writeEnum(writer, slot.tag, changes.indexOf(value as string));
    case "audience":
      return Array.isArray(value) && writeAudience(writer, slot, value);
    case "octets":
      return typeof value === "string" && writeOctets(writer, slot.tag, value);
    case "time":
      return typeof value === "string" && writeTime(writer, slot.tag, value);
    case "id":
      return writeId(writer, slot.tag, (slot.field.flag ?? 0) * 8, value);
    case "message":
      if (!isObject(value)) return false;
      if (slot.twin !== 0 && options.twin) return writeJson(writer, slot.twin, value);
      writer.varint(slot.tag);
      return writeInner(writer, slot.table as Table, value, options);
    case "union": {
      const chosen = isObject(value) ? slot.alternatives?.get(value["type"] as string) : undefined;
      return chosen !== undefined && writeSlot(writer, chosen, value, options);
    }
    case "group":
      return isObject(value) && writeGroup(writer, slot, value, options);
    case "messages":
      if (!Array.isArray(value) || !value.every(isObject)) return false;
      for (const element of value) {
        writer.varint(slot.tag);
        writeInner(writer, slot.table as Table, element, options);
      }
      return true;
    case "strings":
      if (!Array.isArray(value)) return false;
      for (const element of value) {
        if (typeof element !== "string") return false;
        writer.varint(slot.tag);
        if (!writer.text(element)) return false;
      }
      return true;
    case "map":
      return isObject(value) && writeMap(writer, slot.tag, value);
    default:
      return writeOpen(writer, slot, value, options);
  }
}

/** The kinds that hold any JSON. */
function writeOpen(writer: Writer, slot: Slot, value: unknown, options: EncodeOptions): boolean {
  if ((slot.role === "struct" || slot.role === "anys" || slot.role === "metadata") && !isObject(value)) return false;
  if (slot.twin !== 0 && options.twin) return writeJson(writer, slot.twin, value);
  if (slot.role === "token") return writeToken(writer, slot.tag, value);
  writer.varint(slot.tag);
  const from = writer.open();
  const done =
    slot.role === "struct"
      ? writeStruct(writer, value as object)
      : slot.role === "value"
        ? writeValue(writer, value)
        : slot.role === "any"
          ? writeAny(writer, value)
          : slot.role === "anys"
            ? writeAnys(writer, value as JsonObject)
            : Object.keys(value as object).length > 0 && writeMap(writer, KEY, value as JsonObject);
  if (done) writer.close(from);
  return done;
}

function writeInner(writer: Writer, table: Table, value: JsonObject, options: EncodeOptions): true {
  const from = writer.open();
  writeMessage(writer, table, value, options);
  writer.close(from);
  return true;
}

function writeInteger(writer: Writer, tag: number, value: number): boolean {
  if (Object.is(value, -0)) return false;
  writer.varint(tag);
  writer.integer(value);
  return true;
}

export const roles: readonly string[] = ["", "user", "assistant"];
export const changes: readonly string[] = ["", "created", "modified", "deleted"];

function writeEnum(writer: Writer, tag: number, value: number): boolean {
  if (value <= 0) return false;
  writer.varint(tag);
  writer.varint(value);
  return true;
}

function writeAudience(writer: Writer, slot: Slot, audience: readonly unknown[]): boolean {
  const numbers = audience.map((role) => roles.indexOf(role as string));
  if (numbers.length === 0 || numbers.some((number) => number <= 0)) return false;
  if (numbers.length === 1) return writeEnum(writer, slot.tag, numbers[0] as number);
  writer.varint((slot.field.several as number) * 8 + 2);
  const from = writer.open();
  for (const number of numbers) writer.varint(number);
  writer.close(from);
  return true;
}

/** What the last group of canonical base64 can end with before its padding. */
const ends = [undefined, /[AEIMQUYcgkosw048]=$/, /[AQgw]==$/];

function writeOctets(writer: Writer, tag: number, text: string): boolean {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  if (padding > 0 && !ends[padding]?.test(text.slice(-4))) return false;
  let octets: Uint8Array;
  try {
    octets = decodeBase64(text);
  } catch {
    return false;
  }
  writer.varint(tag);
  writer.octets(octets);
  return true;
}

function writeTime(writer: Writer, tag: number, text: string): boolean {
  const ms = Date.parse(text);
  if (text.length !== 24 || Number.isNaN(ms) || new Date(ms).toISOString() !== text) return false;
  const seconds = Math.floor(ms / 1000);
  writer.varint(tag);
  const from = writer.open();
  if (seconds !== 0) writeInteger(writer, 0x08, seconds);
  if (ms !== seconds * 1000) writeInteger(writer, 0x10, (ms - seconds * 1000) * 1_000_000);
  writer.close(from);
  return true;
}

/** An id as text, with a flag if it is a number. */
export function writeId(writer: Writer, tag: number, flag: number, id: unknown): boolean {
  if (typeof id === "string") {
    writer.varint(tag);
    return writer.text(id);
  }
  if (typeof id !== "number" || !Number.isFinite(id)) return false;
  writer.varint(tag);
  writer.text(Object.is(id, -0) ? "-0" : String(id));
  writer.varint(flag);
  writer.varint(1);
  return true;
}

function writeToken(writer: Writer, tag: number, token: unknown): boolean {
  writer.varint(tag);
  const from = writer.open();
  if (typeof token === "string") {
    writer.varint(KEY);
    if (!writer.text(token)) return false;
  } else if (!Number.isSafeInteger(token) || !writeInteger(writer, 0x10, token as number)) return false;
  writer.close(from);
  return true;
}

/** The object's own members, each in its field: all of them, and no others. */
function writeGroup(writer: Writer, slot: Slot, value: JsonObject, options: EncodeOptions): boolean {
  let count = 0;
  for (const part of slot.parts) {
    const name = part.field.part as string;
    if (Object.hasOwn(value, name)) {
      if (!writeSlot(writer, part, value[name], options)) return false;
      count++;
    } else if (part.field.open === undefined) return false;
  }
  return count === Object.keys(value).length;
}

function writeMap(writer: Writer, tag: number, value: JsonObject): boolean {
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (typeof member !== "string" || !writeEntry(writer, tag, name, member)) return false;
  }
  return true;
}

/** One entry of a map of strings; false, and nothing written, if it does not fit. */
function writeEntry(writer: Writer, tag: number, name: string, value: string): boolean {
  const at = writer.at;
  writer.varint(tag);
  const from = writer.open();
  writer.varint(KEY);
  if (writer.text(name)) {
    writer.varint(VALUE);
    if (writer.text(value)) {
      writer.close(from);
      return true;
    }
  }
  writer.at = at;
  return false;
}

function writeAnys(writer: Writer, value: JsonObject): boolean {
  for (const name of Object.keys(value)) {
    if (value[name] === undefined) continue;
    writer.varint(KEY);
    const entry = writer.open();
    writer.varint(KEY);
    if (!writer.text(name)) return false;
    writer.varint(VALUE);
    const from = writer.open();
    if (!writeAny(writer, value[name])) return false;
    writer.close(from);
    writer.close(entry);
  }
  return true;
}

/** A field that holds JSON. */
export function writeJson(writer: Writer, tag: number, value: unknown): boolean {
  const text = stringify(value);
  if (text === undefined) return false;
  writer.varint(tag);
  if (!writer.text(text)) throw new Fault("internal", "JSON is always well formed");
  return true;
}
