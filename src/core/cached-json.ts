import { type JsonObject, weigh } from "./json.js";

interface Known {
  readonly text: string;
  readonly weight: number;
}

const known = new WeakMap<object, Known>();

/**
 * A frozen copy: every caller in this process gets the same object. Its JSON text and its weight are computed once: for what is registered
 * once and listed again and again. What is not JSON comes back as it is, and is refused when it is sent.
 */
export function cachedJson<T extends JsonObject>(value: T): T {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch {
    return value;
  }
  const copy = frozen(JSON.parse(text) as T);
  known.set(copy, { text, weight: weigh(copy) });
  return copy;
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

/** The JSON of an object that `cachedJson` made; undefined for any other. */
export function cachedText(value: object): string | undefined {
  return known.get(value)?.text;
}

/** weigh(), without the walk through an object that `cachedJson` made. */
export function weightOf(value: JsonObject): number {
  return known.get(value)?.weight ?? weigh(value);
}
