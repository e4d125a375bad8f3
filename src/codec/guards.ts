import type { JsonObject } from "../core/index.js";
import type { Id, Outgoing, OutgoingMessage } from "./jsonrpc.js";

/** Whether a value names a call; whether it is a call that is open, those know who keep them. */
export function isId(value: unknown): value is Id {
  return typeof value === "string" || typeof value === "number";
}

/** The call that a cancellation, or a grant of credit, names; undefined if it names none. */
export function namedCall(params: JsonObject | undefined): Id | undefined {
  const id = params?.["requestId"];
  return isId(id) ? id : undefined;
}

/** Tells the answers to a batch from one message, which Array.isArray() does not do for arrays that are read-only. */
export function isBatch(message: Outgoing): message is readonly OutgoingMessage[] {
  return Array.isArray(message);
}
