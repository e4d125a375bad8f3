import { Fault, type FaultCode } from "./fault.js";

/**
 * What stands before the text of a number while it is written as a string. Nobody outside this process knows it. Made with the first such
 * number, because Workers have no random values while modules load.
 */
let mark = "";
let marked: RegExp | undefined;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** Whether an exact number was ever made. Until then, nothing has to be searched for one. */
let made = false;
/** Whether jsonText is running, and how many exact numbers it has written. */
let writing = false;
let written = 0;

/**
 * A number from a peer that JavaScript would change: an integer beyond 2^53 that no double holds, a number too large for any double, or -0,
 * which JSON.stringify writes as 0. It keeps its text. JSON.stringify refuses it, as it does a bigint; jsonText writes it.
 */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    if (!number.test(text)) throw new Fault("internal", `${text} is not a JSON number`);
    this.text = text;
    if (made) return;
    made = true;
    mark = `exact-${crypto.randomUUID()}:`;
    marked = new RegExp(`"${mark}([-+.\\deE]+)"`, "g");
  }

  get isMinusZero(): boolean {
    return /^-0(?:\.0+)?(?:[eE]|$)/.test(this.text);
  }

  toString(): string {
    return this.text;
  }

  toJSON(): string {
    if (!writing) throw new TypeError(`the number ${this.text} has to be written by jsonText`);
    written++;
    return mark + this.text;
  }
}

/** JSON.stringify that also writes exact numbers. */
export function jsonText(value: unknown, replacer?: (key: string, member: unknown) => unknown, indent?: number): string {
  if (marked === undefined) return JSON.stringify(value, replacer, indent);
  const outer = writing;
  const before = written;
  writing = true;
  try {
    const text = JSON.stringify(value, replacer, indent);
    return written === before ? text : text.replace(marked, "$1");
  } finally {
    writing = outer;
  }
}

/** Throws a Fault that names the place of the first number that no double holds. `path` is what the value is called, or "". */
export function checkNumbers(value: unknown, path: string, code: FaultCode = "invalid-params"): void {
  if (made && holds(value)) convert(value, path, code);
}

/** The value with plain numbers, for a program. Throws like checkNumbers, and turns an exact -0 into the number -0. */
export function withNumbers<T>(value: T, path: string, code: FaultCode = "invalid-params"): T {
  return made && holds(value) ? (convert(value, path, code) as T) : value;
}

/** How deep values are walked through: four times the default of `limits.depth`. A program's own value may contain itself. */
export const WALKED_DEPTH = 1024;

function holds(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array || depth > WALKED_DEPTH) return false;
  if (value instanceof ExactNumber) return true;
  if (Array.isArray(value)) return value.some((element) => holds(element, depth + 1));
  for (const name in value) if (holds((value as { readonly [name: string]: unknown })[name], depth + 1)) return true;
  return false;
}

function convert(value: unknown, path: string, code: FaultCode): unknown {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  if (value instanceof ExactNumber) {
    if (value.isMinusZero) return -0;
    throw new Fault(code, `${path} is the number ${short(value.text)}, which JavaScript cannot hold exactly`, { data: { path } });
  }
  if (Array.isArray(value)) return value.map((element, at) => convert(element, path + step(at), code));
  const copy: Record<string, unknown> = { ...value };
  // The spread has made `__proto__` an own member already, so this assignment does not change the prototype.
  for (const name of Object.keys(copy))
    copy[name] = convert(copy[name], path === "" ? step(name).replace(/^\./, "") : path + step(name), code);
  return copy;
}

/** Digits of a number that are worth showing. */
const SHOWN = 40;

function short(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

/** One step of a path into a value: `.city`, `[0]`, `["odd name"]`. */
export function step(key: PropertyKey): string {
  if (typeof key === "number") return `[${key}]`;
  const name = String(key);
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
