import { Fault, type LimitName } from "../core/index.js";

/** The fault of a message that JSON.stringify could not write. */
export function unwritable(cause: unknown): Fault {
  if (!(cause instanceof RangeError)) return new Fault("internal", "the message is not JSON", { cause });
  // JSON.stringify has two limits: the stack, and the longest string there can be.
  const limit: LimitName = cause.message.includes("string length") ? "messageBytes" : "depth";
  return new Fault("overload", "the message is too large to write", { cause, data: { limit } });
}
