import { Fault } from "../core/index.js";

/** A schema that cannot be used, and where in it the trouble is: a JSON pointer. */
export function badSchema(message: string, pointer: string, cause?: unknown): Fault {
  const place = pointer === "" ? "the schema" : `the schema at ${pointer}`;
  return new Fault("invalid-params", `${place} ${message}`, { data: { reason: "schema", pointer }, cause });
}

/** A value that does not fit its message, or a message that is no value of its schema. */
export function badValue(message: string, path: string): Fault {
  return new Fault("invalid-params", `${path}: ${message}`, { data: { reason: "value", path } });
}

/** One step further in a JSON pointer. */
export function pointTo(pointer: string, ...names: readonly (string | number)[]): string {
  return names.reduce<string>((sum, name) => `${sum}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`, pointer);
}
