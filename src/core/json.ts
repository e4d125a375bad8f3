import { ExactNumber, WALKED_DEPTH } from "./exact.js";

/** A JSON object whose members were checked to be JSON where they entered; treat it as read-only. */
export type JsonObject = { readonly [member: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** The params of a message that has none. Compare by identity: an empty object means that the message had empty params. */
export const noParams: JsonObject = Object.freeze({});

const BESIDE = Symbol("beside");

/**
 * The members that stood beside these params, this result or this error in their message, and that JSON-RPC does not name. They travel with
 * the object: spreading it keeps them, and JSON does not write them in it.
 */
export function beside(object: object): JsonObject | undefined {
  return (object as { readonly [BESIDE]?: JsonObject })[BESIDE];
}

/** A copy that brings `members` along. */
export function withBeside<T extends object>(object: T, members: JsonObject): T {
  return { ...object, [BESIDE]: members };
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
export function memoryOf(value: unknown, depth = 0): number {
  switch (typeof value) {
    case "string":
      return 24 + value.length;
    case "object": {
      if (value === null) return 0;
      if (value instanceof Uint8Array) return 128 + value.byteLength;
      let sum = 56;
      if (depth > WALKED_DEPTH) return sum;
      if (Array.isArray(value)) {
        for (const element of value) sum += 8 + memoryOf(element, depth + 1);
        return sum;
      }
      for (const key in value) sum += 32 + key.length + memoryOf((value as JsonObject)[key], depth + 1);
      return sum;
    }
    default:
      return 8;
  }
}
