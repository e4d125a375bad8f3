import type { JsonObject } from "../../core/index.js";
import { stringify } from "./json.js";
import type { Slot } from "./table.js";
import { octetsOf, writeAny } from "./value.js";
import type { Writer } from "./writer.js";

/** Tags of a map's entry: its key and its value; also the first field of a message. */
export const KEY = 0x0a;
export const VALUE = 0x12;

export function writeInteger(writer: Writer, tag: number, value: number): boolean {
  if (Object.is(value, -0)) return false;
  writer.varint(tag);
  writer.integer(value);
  return true;
}

/** The number of an enum value. An unknown value is a number in JSON too. */
export function enumOf(names: readonly string[], value: unknown): number | undefined {
  const at = typeof value === "string" ? names.indexOf(value) : 0;
  if (at > 0) return at;
  return typeof value === "number" && value === (value | 0) && (value < 0 || value >= names.length) ? value : undefined;
}

export function writeEnum(writer: Writer, tag: number, value: number | undefined): boolean {
  if (value === undefined) return false;
  writer.varint(tag);
  writer.integer(value);
  return true;
}

/** Writes values of an enum. A single one goes to the field for one, if there is such a field. */
export function writeEnums(writer: Writer, slot: Slot, values: readonly unknown[]): boolean {
  const { several } = slot.field;
  const numbers = values.map((value) => enumOf(slot.names, value));
  if (numbers.includes(undefined)) return false;
  if (numbers.length === 0) return several === undefined;
  if (several !== undefined && numbers.length === 1) return writeEnum(writer, slot.tag, numbers[0]);
  writer.varint((several ?? slot.number) * 8 + 2);
  const from = writer.open();
  for (const number of numbers) writer.integer(number ?? 0);
  writer.close(from);
  return true;
}

export function writeOctets(writer: Writer, tag: number, text: string): boolean {
  const octets = octetsOf(text);
  if (octets === undefined) return false;
  writer.varint(tag);
  writer.octets(octets);
  return true;
}

export function writeTime(writer: Writer, tag: number, text: string): boolean {
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

/** Writes an id as text, with a flag if it is a number. */
export function writeId(writer: Writer, tag: number, flag: number, id: unknown): boolean {
  if (typeof id === "string") {
    writer.varint(tag);
    return writer.text(id);
  }
  // The id must be the same number when it is read back.
  if (typeof id !== "number" || !Number.isFinite(id) || Object.is(id, -0) || (Number.isInteger(id) && !Number.isSafeInteger(id)))
    return false;
  writer.varint(tag);
  writer.text(String(id));
  writer.varint(flag);
  writer.varint(1);
  return true;
}

export function writeToken(writer: Writer, tag: number, token: unknown): boolean {
  writer.varint(tag);
  const from = writer.open();
  if (typeof token === "string") {
    writer.varint(KEY);
    if (!writer.text(token)) return false;
  } else if (typeof token !== "number" || !Number.isSafeInteger(token) || !writeInteger(writer, 0x10, token)) return false;
  writer.close(from);
  return true;
}

export function writeMap(writer: Writer, tag: number, value: JsonObject): boolean {
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (typeof member !== "string" || !writeEntry(writer, tag, name, member)) return false;
  }
  return true;
}

/** Writes one entry of a map of strings. Returns false, and writes nothing, if it does not fit. */
export function writeEntry(writer: Writer, tag: number, name: string, value: string): boolean {
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

export function writeAnys(writer: Writer, value: JsonObject): boolean {
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

/** Writes a field that holds JSON. `object`: it must be an object, because a program's `toJSON` may return something else. */
export function writeJsonField(writer: Writer, tag: number, value: unknown, object = false): boolean {
  const text = stringify(value);
  if (text === undefined || (object && !text.startsWith("{"))) return false;
  writer.varint(tag);
  // JSON.stringify escapes lone surrogates, so the text has none.
  return writer.text(text);
}
