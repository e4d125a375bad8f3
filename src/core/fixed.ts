import { type JsonObject, weigh } from "./json.js";

interface Known {
  readonly text: string;
  readonly weight: number;
}

const known = new WeakMap<object, Known>();

/**
 * A copy that nobody may change, whose JSON text and weight are computed once: for what is registered once and listed again and again. A
 * value that is not JSON is returned as it is, and is refused when it is sent.
 */
export function fixed<T extends JsonObject>(value: T): T {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch {
    return value;
  }
  const copy = JSON.parse(text) as T;
  known.set(copy, { text, weight: weigh(copy) });
  return copy;
}

/** The JSON of a fixed object; undefined for any other. */
export function fixedText(value: object): string | undefined {
  return known.get(value)?.text;
}

/** weigh(), without the walk through a fixed object. */
export function weightOf(value: JsonObject): number {
  return known.get(value)?.weight ?? weigh(value);
}
