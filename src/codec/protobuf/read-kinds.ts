import { refused } from "./fault.js";
import { setMember } from "./json.js";
import type { Reader } from "./reader.js";
import { readAny, readInteger } from "./value.js";
import { KEY, VALUE } from "./write-kinds.js";

/** An object that is being read. */
export type Draft = Record<string, unknown>;

/** Reads several values of an enum. None may be omitted. */
export function readPackedEnums(reader: Reader, names: readonly string[], before: unknown): unknown {
  const outer = reader.enter();
  let list = before;
  while (reader.at < reader.end) {
    reader.count();
    list = appended(list, enumName(names, reader) ?? 0);
  }
  reader.leave(outer);
  return list;
}

/** A value of an enum; undefined if it is unspecified. An unknown one is returned as its number, so that it does not look absent. */
export function enumName(names: readonly string[], reader: Reader): string | number | undefined {
  const number = reader.int32();
  return number === 0 ? undefined : (names[number] ?? number);
}

/** One entry of a map of strings. */
export function readTextEntry(reader: Reader, into: Draft, once: boolean): Draft {
  const outer = reader.enter();
  let name = "";
  let value = "";
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === KEY) name = reader.text();
    else if (tag === VALUE) value = reader.text();
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (once && Object.hasOwn(into, name)) throw refused(`${name} comes twice`);
  setMember(into, name, value);
  return into;
}

export function readTextMap(reader: Reader): Draft {
  const metadata: Draft = {};
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === KEY) readTextEntry(reader, metadata, false);
    else reader.skip(tag);
  }
  return metadata;
}

export function readAnys(reader: Reader, depth: number): Draft {
  const anys: Draft = {};
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag !== KEY) {
      reader.skip(tag);
      continue;
    }
    const outer = reader.enter();
    let name = "";
    let value: unknown = {};
    while (reader.at < reader.end) {
      const part = reader.tag();
      if (part === KEY) name = reader.text();
      else if (part === VALUE) {
        const entry = reader.enter();
        value = readAny(reader, depth);
        reader.leave(entry);
      } else reader.skip(part);
    }
    reader.leave(outer);
    setMember(anys, name, value);
  }
  return anys;
}

export function readToken(reader: Reader): unknown {
  let token: unknown = "";
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === KEY) token = reader.text();
    else if (tag === 0x10) token = readInteger(reader);
    else reader.skip(tag);
  }
  return token;
}

export function readTime(reader: Reader): string {
  let seconds = 0;
  let nanos = 0;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === 0x08) seconds = reader.int64();
    else if (tag === 0x10) nanos = reader.int32();
    else reader.skip(tag);
  }
  const time = new Date(seconds * 1000 + Math.floor(nanos / 1_000_000));
  if (Number.isNaN(time.getTime())) throw refused("a timestamp is out of range");
  return time.toISOString();
}

/** The number in the text of an id. */
export function idNumber(text: unknown): number {
  const number = typeof text === "string" && text !== "" ? Number(text) : Number.NaN;
  if (!Number.isFinite(number)) throw refused("an id is said to be a number, and is none");
  if (Object.is(number, -0) || (Number.isInteger(number) && !Number.isSafeInteger(number)))
    throw refused(`the id ${String(text).slice(0, 40)} is a number that JavaScript cannot hold exactly`);
  return number;
}

export function appended(before: unknown, element: unknown): unknown[] {
  if (before === undefined) return [element];
  (before as unknown[]).push(element);
  return before as unknown[];
}
