import { Fault, isObject } from "../core/index.js";
import { blobText } from "./blob-text.js";
import type { Incoming, IncomingBad, IncomingBatch, Outgoing, OutgoingMessage } from "./jsonrpc.js";
import { listText } from "./list-text.js";
import { noParams } from "./parse.js";

/** One line of JSON, without its end. Throws a Fault on what is no JSON. */
export function serialise(message: Outgoing): string {
  if (!Array.isArray(message)) {
    const single = message as OutgoingMessage;
    return "blob" in single ? blobText(single.blob as string, single) : stringify(written(single));
  }
  if (message.length === 0) throw new Fault("internal", "a batch holds at least one message");
  return stringify(message.map(written));
}

/** What was parsed, as it came: equal to it member by member. The id of an error that has none becomes null. */
export function reserialise(message: Exclude<Incoming, IncomingBad>): string {
  return stringify(message.kind === "batch" ? message.messages.map(restore) : restore(message));
}

function restore(message: Exclude<Incoming, IncomingBatch>): object {
  const jsonrpc = "2.0";
  switch (message.kind) {
    case "request":
      return { jsonrpc, id: message.id, method: message.method, ...paramsOf(message), ...message.extra };
    case "notification":
      return { jsonrpc, method: message.method, ...paramsOf(message), ...message.extra };
    case "result":
      return { jsonrpc, id: message.id, result: message.value, ...message.extra };
    case "error":
      return { jsonrpc, id: message.id ?? null, error: message.error, ...message.extra };
    case "bad":
      throw new Fault("internal", "a message that could not be read cannot be written", { cause: message.fault });
  }
}

function paramsOf({ params }: { readonly params: object }): { readonly params?: object } {
  return params === noParams ? {} : { params };
}

/** What of a message is written. JSON.stringify leaves out what is undefined, and an answer without its result would be no message. */
function written(message: OutgoingMessage): OutgoingMessage {
  if ("error" in message) return message.fault === undefined ? message : { jsonrpc: "2.0", id: message.id, error: message.error };
  if ("method" in message || isObject(message.result)) return message;
  throw new Fault("internal", "a result must be an object");
}

function stringify(message: object): string {
  try {
    return listText(message) ?? JSON.stringify(message);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw new Fault("internal", "the message is no JSON", { cause });
    // The one other limit of JSON.stringify is the longest string there can be.
    const limit = cause.message.includes("string length") ? "messageBytes" : "depth";
    throw new Fault("overload", "the message is too large to write", { cause, data: { limit } });
  }
}
