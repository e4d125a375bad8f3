import { Fault, isObject } from "../../core/index.js";

/** A field as the lock file keeps it. */
export interface LockedField {
  readonly number: number;
  readonly name: string;
  /** As in .proto text: `repeated string`. */
  readonly type: string;
  readonly required?: true;
}

/** A message in the lock file. Numbers and names of removed fields are never reused. */
export interface LockedMessage {
  readonly name: string;
  readonly fields: Readonly<Record<string, LockedField>>;
  /** The field for members without a property. */
  readonly overflow?: number;
  readonly reserved?: { readonly numbers: readonly number[]; readonly names: readonly string[] };
}

/** By the JSON pointer of the schema that became the message. */
export type LockedMessages = Readonly<Record<string, LockedMessage>>;

export interface LockedTool {
  /** The file's name without `.proto`. The names of its messages begin with it. */
  readonly file: string;
  readonly input: LockedMessages;
  readonly output?: LockedMessages;
  /** Whether the tool is gone. Its entry is kept in case it comes back. */
  readonly former?: true;
}

/** The lock file of a catalogue. */
export interface Lock {
  readonly version: 1;
  readonly package: string;
  readonly tools: Readonly<Record<string, LockedTool>>;
}

export const LOCK_FILE = "anywire.lock.json";

export function parseLock(text: string): Lock {
  let lock: unknown;
  try {
    lock = JSON.parse(text);
  } catch (cause) {
    throw new Fault("invalid-params", "the lock file is not JSON", { cause });
  }
  if (!isObject(lock) || lock["version"] !== 1 || typeof lock["package"] !== "string" || !isObject(lock["tools"]))
    throw new Fault("invalid-params", "the lock file has a form that this version does not know");
  for (const [tool, locked] of Object.entries(lock["tools"]))
    if (
      !isObject(locked) ||
      !/^[a-z][a-z0-9_]*$/.test(String(locked["file"])) ||
      !isMessages(locked["input"]) ||
      !isMessages(locked["output"] ?? {})
    )
      throw new Fault("invalid-params", `the lock file is broken at the tool ${JSON.stringify(tool)}`);
  return lock as unknown as Lock;
}

function isMessages(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.values(value).every(
      (message) =>
        isObject(message) &&
        isName(message["name"]) &&
        isObject(message["fields"]) &&
        Object.values(message["fields"]).every(isField) &&
        isNumber(message["overflow"] ?? 1) &&
        isReserved(message["reserved"]),
    )
  );
}

function isField(value: unknown): boolean {
  return isObject(value) && isNumber(value["number"]) && isName(value["name"]) && typeof value["type"] === "string";
}

/** Names and numbers go into the .proto text as they are. */
function isName(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z]\w*$/.test(value);
}

function isNumber(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 29;
}

function isReserved(value: unknown): boolean {
  if (value === undefined) return true;
  const { numbers, names } = isObject(value) ? value : {};
  return Array.isArray(numbers) && numbers.every(isNumber) && Array.isArray(names) && names.every(isName);
}

/** Adds messages that no longer exist, so that their numbers are known if they come back. */
export function withFormer(now: Map<string, LockedMessage>, before: LockedMessages | undefined): LockedMessages {
  const all = new Map(now);
  for (const [key, message] of Object.entries(before ?? {})) if (!all.has(key)) all.set(key, message);
  return Object.fromEntries(all);
}

/** An own member of a record, by a name that its sender chose. */
export function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
