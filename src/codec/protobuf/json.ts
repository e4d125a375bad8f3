import { isObject, type JsonObject, jsonText } from "../../core/index.js";
import { exceedsDepth, holdsMore, MOST_VALUES, PARSED_FIRST, tooManyValues } from "../depth.js";
import { DEEP, ODD, parseExactly, survey } from "../numbers.js";
import { unwritable } from "../unwritable.js";
import { malformed, refused, tooDeep } from "./fault.js";
import type { Reader } from "./reader.js";

/** Sets a member as data, whatever its name: assigning `__proto__` would set the prototype. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}

/** JSON text; undefined for what JSON omits. */
export function stringify(value: unknown): string | undefined {
  try {
    return jsonText(value) as string | undefined;
  } catch (cause) {
    throw unwritable(cause);
  }
}

/** Reads a field that holds JSON, with exact numbers. `depth`: how many levels it may have. */
export function readJsonField(reader: Reader, depth: number): unknown {
  const text = reader.text();
  if (text.length > PARSED_FIRST && exceedsDepth(text, depth)) throw tooDeep();
  if (text.length > PARSED_FIRST && holdsMore(text, MOST_VALUES)) throw tooManyValues();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    if (exceedsDepth(text, depth)) throw tooDeep();
    throw malformed("a field is not JSON", cause);
  }
  const found = survey(value, depth);
  if (found === DEEP) throw tooDeep();
  return found === ODD ? parseExactly(text) : value;
}

/** Like readJsonField, for an object. Empty bytes are an empty object. */
export function readJsonObject(reader: Reader, depth: number): JsonObject {
  if (reader.at < reader.end && reader.bytes[reader.at] === 0) {
    reader.at++;
    return {};
  }
  const value = readJsonField(reader, depth);
  if (!isObject(value)) throw refused("a field is not a JSON object");
  return value;
}
