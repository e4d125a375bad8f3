import type { JsonObject } from "../core/index.js";
import type { Id, Outgoing, OutgoingMessage } from "./jsonrpc.js";

/** Whether a value can be the id of a call. Whether such a call is open is known elsewhere. */
export function isId(value: unknown): value is Id {
  return typeof value === "string" || typeof value === "number";
}

/** The call that a cancellation, or a grant of credit, names; undefined if it names none. */
export function namedCall(params: JsonObject | undefined): Id | undefined {
  const id = params?.["requestId"];
  return isId(id) ? id : undefined;
}

/** Tells the answers to a batch from a single message. Array.isArray() does not narrow the type of read-only arrays. */
export function isBatch(message: Outgoing): message is readonly OutgoingMessage[] {
  return Array.isArray(message);
}
