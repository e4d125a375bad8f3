import { isObject, type JsonObject } from "../../core/index.js";
import { refused } from "./fault.js";
import { setMember, stringify } from "./json.js";
import { writeKeptMeta } from "./kept-meta.js";
import type { Slot, Table } from "./table.js";
import { isText } from "./text.js";
import { isTyped, writeAny, writePacked, writeStruct, writeTyped, writeValue } from "./value.js";
import {
  enumOf,
  KEY,
  writeAnys,
  writeEntry,
  writeEnum,
  writeEnums,
  writeId,
  writeInteger,
  writeJsonField,
  writeMap,
  writeOctets,
  writeTime,
  writeToken,
} from "./write-kinds.js";
import type { Writer } from "./writer.js";

export interface EncodeOptions {
  /** Whether fields that have a twin are written as JSON. The peer must have said that it reads them. */
  readonly twin: boolean;
  /** Whether the peer may know only the base. What it cannot read is refused, or gets a substitute. */
  readonly base?: boolean | undefined;
}

/** Writes an object as the members of a message. `without`: a member of its `_meta` that is written outside the message. */
export function writeMessage(writer: Writer, table: Table, value: JsonObject, options: EncodeOptions, without?: string): void {
  let others: Record<string, unknown> | undefined;
  let empty: string | undefined;
  let seen = 0;
  let variant: Slot | undefined;
  if (table.variants !== undefined) {
    variant = table.variants.get(value["type"]);
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
        // An empty array leaves no bytes. If it is not the default, it must be written elsewhere.
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
  if (table.others === 0) {
    if (others !== undefined) throw refused(`${table.name} cannot hold ${Object.keys(others).join(", ")}`);
    return;
  }
  writer.varint(table.others * 8 + 2);
  if (others === undefined) writer.varint(0);
  else writer.text(stringify(others) ?? "{}");
}

/** Writes the members that belong to the variant and not to the message itself. */
function writeVariant(writer: Writer, table: Table, variant: Slot, value: JsonObject, options: EncodeOptions): void {
  const inner = variant.table;
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
 * Writes `_meta` without the members that have fields of their own. Returns the bits of what was written, 0 if it does not fit. A member
 * that leaves no bytes in its fields stays in `_meta`.
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
    else if (lift !== undefined && (bits & lift.bit) === 0 && writeSlot(writer, lift, meta[name], options) && writer.at > at) {
      lifted++;
      bits |= lift.bit;
    } else {
      writer.at = at;
      setMember((rest ??= {}), name, meta[name]);
    }
  }
  return (lifted > 0 && rest === undefined) || writeSlot(writer, slot, rest ?? {}, options) ? bits : 0;
}

/** Writes a field. Returns false if the value does not fit; then the written bytes have to be undone. */
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
      return typeof value === "number" && Number.isSafeInteger(value) && writeInteger(writer, slot.tag, value);
    case "double":
      if (typeof value !== "number" || !Number.isFinite(value)) return false;
      writer.varint(slot.tag);
      writer.double(value);
      return true;
    case "uint64":
      return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && writeInteger(writer, slot.tag, value);
    case "enum":
      return writeEnum(writer, slot.tag, enumOf(slot.names, value));
    case "enums":
    case "enumList":
      return Array.isArray(value) && writeEnums(writer, slot, value);
    case "octets":
      return typeof value === "string" && writeOctets(writer, slot.tag, value);
    case "bytes":
      if (!(value instanceof Uint8Array)) return false;
      writer.varint(slot.tag);
      writer.octets(value);
      return true;
    case "time":
      return typeof value === "string" && writeTime(writer, slot.tag, value);
    case "id":
      return writeId(writer, slot.tag, (slot.field.flag ?? 0) * 8, value);
    case "message":
      if (!isObject(value)) return false;
      if (slot.twin !== 0 && options.twin)
        return slot.member === "_meta" ? writeKeptMeta(writer, slot.twin, value) : writeJsonField(writer, slot.twin, value, true);
      writer.varint(slot.tag);
      return writeInner(writer, slot.table, value, options);
    case "union": {
      const chosen = isObject(value) ? slot.alternatives?.get(value["type"]) : undefined;
      return chosen !== undefined && writeSlot(writer, chosen, value, options);
    }
    case "group":
      return isObject(value) && writeGroup(writer, slot, value, options);
    case "messages":
      if (!Array.isArray(value) || !value.every(isObject)) return false;
      for (const element of value) {
        writer.varint(slot.tag);
        writeInner(writer, slot.table, element, options);
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
      if (!isObject(value)) return false;
      if (slot.twin !== 0 && options.twin && !isMapOfStrings(value))
        return slot.member === "_meta" ? writeKeptMeta(writer, slot.twin, value) : writeJsonField(writer, slot.twin, value, true);
      return slot.value === undefined ? writeMap(writer, slot.tag, value) : writeEntries(writer, slot, slot.value, value, options);
    default:
      return writeOpen(writer, slot, value, options);
  }
}

/** Writes the kinds that are protobuf's own messages, or stand for arbitrary values. */
function writeOpen(writer: Writer, slot: Slot, value: unknown, options: EncodeOptions): boolean {
  const open = slot.role === "value" || slot.role === "any";
  if (slot.role === "token") return writeToken(writer, slot.tag, value);
  if (!open && !isObject(value)) return false;
  if (slot.twin !== 0 && options.twin && !(slot.role === "typed" && isTyped(value))) return writeJsonField(writer, slot.twin, value, !open);
  writer.varint(slot.tag);
  const from = writer.open();
  const done = writeContent(writer, slot, value);
  if (done) writer.close(from);
  return done;
}

function writeContent(writer: Writer, slot: Slot, value: unknown): boolean {
  if (slot.role === "value") return writeValue(writer, value);
  if (slot.role === "any") return writeAny(writer, value);
  if (!isObject(value)) return false;
  switch (slot.role) {
    case "struct":
      return writeStruct(writer, value);
    case "typed":
      return writeTyped(writer, value);
    case "packed":
      return writePacked(writer, value);
    case "anys":
      return writeAnys(writer, value);
    default:
      return Object.keys(value).length > 0 && writeMap(writer, KEY, value);
  }
}

/** Writes a map whose values are not strings. */
function writeEntries(writer: Writer, map: Slot, slot: Slot, value: JsonObject, options: EncodeOptions): boolean {
  for (const name of Object.keys(value)) {
    if (value[name] === undefined) continue;
    writer.varint(map.tag);
    const entry = writer.open();
    writer.varint(KEY);
    if (!writer.text(name) || !writeSlot(writer, slot, value[name], options)) return false;
    writer.close(entry);
  }
  return true;
}

function writeInner(writer: Writer, table: Table, value: JsonObject, options: EncodeOptions): true {
  const from = writer.open();
  writeMessage(writer, table, value, options);
  writer.close(from);
  return true;
}

/** Writes the object's own members, each in its field: all of them, and no others. */
function writeGroup(writer: Writer, slot: Slot, value: JsonObject, options: EncodeOptions): boolean {
  let count = 0;
  for (const part of slot.parts) {
    const name = part.field.part ?? "";
    if (Object.hasOwn(value, name)) {
      if (!writeSlot(writer, part, value[name], options)) return false;
      count++;
    } else if (part.field.open === undefined) return false;
  }
  return count === Object.keys(value).length;
}

/** Whether a map can hold an object. An empty object leaves no bytes, and would look absent. */
function isMapOfStrings(value: JsonObject): boolean {
  let any = false;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (typeof member !== "string" || !isText(member) || !isText(name)) return false;
    any = true;
  }
  return any;
}
