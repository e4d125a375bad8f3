import { Fault, isObject } from "../../core/index.js";

/** A field as the lock file keeps it. */
export interface LockedField {
  readonly number: number;
  readonly name: string;
  /** As .proto text has it: `repeated string`. */
  readonly type: string;
  readonly required?: true;
}

/** A message as the lock file keeps it. Numbers and names of fields that went are never given again. */
export interface LockedMessage {
  readonly name: string;
  readonly fields: Readonly<Record<string, LockedField>>;
  /** The field for members that are no property. */
  readonly overflow?: number;
  readonly reserved?: { readonly numbers: readonly number[]; readonly names: readonly string[] };
}

/** By JSON pointer of the schema that became the message. */
export type LockedMessages = Readonly<Record<string, LockedMessage>>;

export interface LockedTool {
  /** The file's name without `.proto`, and what the names of its messages begin with. */
  readonly file: string;
  readonly input: LockedMessages;
  readonly output?: LockedMessages;
  /** The tool is gone; what it had is kept for the case that it comes back. */
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
      (message) => isObject(message) && isObject(message["fields"]) && Object.values(message["fields"]).every(isField),
    )
  );
}

function isField(value: unknown): boolean {
  return isObject(value) && Number.isInteger(value["number"]) && typeof value["name"] === "string" && typeof value["type"] === "string";
}

/** Messages that were there before and are no more, so that their numbers are not forgotten should they come back. */
export function withFormer(now: Map<string, LockedMessage>, before: LockedMessages | undefined): LockedMessages {
  const all = new Map(now);
  for (const [key, message] of Object.entries(before ?? {})) if (!all.has(key)) all.set(key, message);
  return Object.fromEntries(all);
}

/** A member of a record, by a name that its sender chose. */
export function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
