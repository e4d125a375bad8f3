import { Fault, isObject } from "../core/index.js";

/** Fails a check: any test runner shows it. */
export class ContractError extends Error {
  override readonly name = "ContractError";
}

export function ok(condition: unknown, message: string): asserts condition {
  if (!condition) throw new ContractError(message);
}

/** Deep equality of JSON values, order of members aside. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  if (!same(actual, expected)) throw new ContractError(`${what}: expected ${show(expected)}, got ${show(actual)}`);
}

/** A condition may call the service, and behind a bridge each call may take a process of its own, of which there are not many. */
const LONGEST_PAUSE_MS = 500;

/** Waits until `condition` holds. */
export async function eventually(condition: () => boolean | Promise<boolean>, what: string, ms = 10_000): Promise<void> {
  const until = Date.now() + ms;
  for (let pause = 5; !(await condition()); pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    if (Date.now() > until) throw new ContractError(`${what}: not so within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** The fault that a promise rejects with. */
export async function rejection(promise: Promise<unknown>, what: string): Promise<Fault> {
  try {
    await promise;
  } catch (error) {
    ok(error instanceof Fault, `${what}: rejected with what is no Fault`);
    return error;
  }
  throw new ContractError(`${what}: expected it to fail`);
}

/** A member of what should be an object. */
export function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** A chunk of what should be bytes. */
export function binaryOf(data: string | Uint8Array): Uint8Array {
  ok(typeof data !== "string", "a chunk of bytes is text");
  return data;
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((value, at) => same(value, b[at]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
