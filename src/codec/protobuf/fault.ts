import { Fault } from "../../core/index.js";

/** The fault of bytes that are not a message of this kind. */
export function malformed(message: string, cause?: unknown): Fault {
  return new Fault("parse", message, cause === undefined ? {} : { cause });
}

/** The fault of bytes that are well formed, but say what no message may say. */
export function refused(message: string): Fault {
  return new Fault("invalid-request", message);
}

export function tooDeep(): Fault {
  return new Fault("invalid-request", "the message is nested too deep", { data: { limit: "depth" } });
}
