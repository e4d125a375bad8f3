import { ExactNumber, WALKED_DEPTH } from "./exact.js";

/** A JSON object whose members were checked to be JSON where they entered; treat it as read-only. */
export type JsonObject = { readonly [member: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** The params of a message that has none. Compare by identity: an empty object means that the message had empty params. */
export const noParams: JsonObject = Object.freeze({});

const ENVELOPE_MEMBERS = Symbol("envelope members");

/**
 * The members of the message itself that JSON-RPC does not name: they stood beside these params, this result or this error. They travel with
 * the object: spreading it keeps them, and JSON does not write them in it.
 */
export function envelopeMembers(object: object): JsonObject | undefined {
  return (object as { readonly [ENVELOPE_MEMBERS]?: JsonObject })[ENVELOPE_MEMBERS];
}

/** A copy that brings `members` along. */
export function withEnvelopeMembers<T extends object>(object: T, members: JsonObject): T {
  return { ...object, [ENVELOPE_MEMBERS]: members };
}

const nothing: JsonObject | undefined = undefined;

/**
 * `{ ...object, ...added }`, which is slow if it begins with a spread: V8 of Node 20 then makes a hidden class for every single object,
 * which takes a microsecond or two. Any member before the spread avoids that. Node 22 and later do not need it, and lose 60 ns by it
 * (docs/decisions/0007-object-shapes.md). For a copy to which nothing is added, write `{ ...object }`.
 */
export function extended(object: JsonObject | undefined, added?: JsonObject): Record<string, unknown> {
  return { ...nothing, ...object, ...added };
}

/** About how many bytes of JSON a value makes, without making them. Byte limits count in this unit. */
export function weigh(value: unknown, depth = 0): number {
  switch (typeof value) {
    case "string":
      return value.length + 2;
    case "number":
      return 8;
    case "object": {
      if (value === null) return 4;
      if (value instanceof Uint8Array) return value.byteLength;
      let sum = 2;
      if (depth > WALKED_DEPTH) return sum;
      if (Array.isArray(value)) {
        for (const element of value) sum += weigh(element, depth + 1) + 1;
        return sum;
      }
      for (const key in value) sum += key.length + 4 + weigh((value as JsonObject)[key], depth + 1);
      return sum;
    }
    default:
      return 5;
  }
}

/** About how many bytes of memory a JSON value takes: for many small values up to twenty times the bytes of its text. */
export function memoryOf(value: unknown): number {
  if (typeof value === "string") return 24 + value.length;
  return typeof value === "object" ? objectMemory(value, 0) : 8;
}

/** Strings and numbers are counted in their place: a call for each would double the time. */
function objectMemory(value: object | null, depth: number): number {
  if (value === null) return 0;
  let sum = 56;
  if (Array.isArray(value)) {
    if (depth > WALKED_DEPTH) return sum;
    for (const element of value as unknown[]) {
      if (typeof element === "string") sum += 32 + element.length;
      else sum += typeof element === "object" ? 8 + objectMemory(element, depth + 1) : 16;
    }
    return sum;
  }
  if (ArrayBuffer.isView(value)) return 128 + value.byteLength;
  if (depth > WALKED_DEPTH) return sum;
  for (const key in value) {
    const member = (value as JsonObject)[key];
    if (typeof member === "string") sum += 56 + key.length + member.length;
    else sum += 32 + key.length + (typeof member === "object" ? objectMemory(member, depth + 1) : 8);
  }
  return sum;
}
