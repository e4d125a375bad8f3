import { Fault, isObject, jsonText } from "../core/index.js";
import { blobText } from "./blob-text.js";
import { isBatch } from "./guards.js";
import type { Incoming, IncomingBad, IncomingBatch, Outgoing, OutgoingMessage, OutgoingNotification } from "./jsonrpc.js";
import { listText } from "./list-text.js";
import { whole } from "./members.js";
import { unwritable } from "./unwritable.js";

/** One line of JSON, without its end. Throws a Fault on what is not JSON. */
export function serialise(message: Outgoing): string {
  if (!isBatch(message))
    return "blob" in message && message.blob !== undefined ? blobText(message.blob, message) : stringify(sentMessage(message));
  if (message.length === 0) throw new Fault("internal", "a batch holds at least one message");
  return stringify(message.map(sentMessage));
}

/** The text of a parsed message, equal to the original member by member. If an error has no id, it becomes null. */
export function reserialise(message: Exclude<Incoming, IncomingBad>): string {
  return stringify(message.kind === "batch" ? message.messages.map(receivedMessage) : receivedMessage(message));
}

/** A parsed message in the form in which it is sent. */
export function receivedMessage(message: Exclude<Incoming, IncomingBatch>): OutgoingMessage {
  const jsonrpc = "2.0";
  switch (message.kind) {
    case "request":
      return whole({ jsonrpc, id: message.id, method: message.method, params: message.params });
    case "notification":
      return whole({ jsonrpc, method: message.method, params: message.params });
    case "result":
      return whole({ jsonrpc, id: message.id, result: message.value });
    case "error":
      return whole({ jsonrpc, id: message.id ?? null, error: message.error });
    case "bad":
      throw new Fault("internal", "a message that could not be read cannot be written", { cause: message.fault });
  }
}

/** The members of a message that are written. JSON.stringify omits undefined, and an answer without a result would be invalid. */
export function sentMessage(message: OutgoingMessage): OutgoingMessage {
  if ("error" in message) return whole(message.fault === undefined ? message : { jsonrpc: "2.0", id: message.id, error: message.error });
  if ("method" in message) return whole("blob" in message ? withBlob(message) : message);
  if (isObject(message.result)) return whole(message);
  throw new Fault("internal", "a result must be an object");
}

function stringify(message: object): string {
  try {
    return listText(message) ?? jsonText(message);
  } catch (cause) {
    throw unwritable(cause);
  }
}

/** A part of an answer as plain JSON, for links that do not write its text themselves. */
function withBlob({ blob, ...message }: OutgoingNotification): OutgoingNotification {
  return { ...message, params: { ...message.params, blob } };
}
