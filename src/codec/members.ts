import { beside, type JsonObject, noParams, withBeside } from "../core/index.js";
import type { OutgoingMessage, OutgoingNotification } from "./jsonrpc.js";

/** The params of a message whose params are null. */
export const nullParams: JsonObject = Object.freeze(withBeside({}, { params: null }));

/** Params that came with other members in their message. */
export function paramsBeside(params: JsonObject, extra: JsonObject): JsonObject {
  const said = params === noParams ? { params: undefined } : beside(params);
  return withBeside(params, said === undefined ? extra : { ...extra, ...said });
}

/** A message as it is written: with the members that stood beside its params, result or error where those came from. */
export function whole(message: OutgoingMessage): OutgoingMessage {
  const inner = "method" in message ? message.params : "result" in message ? message.result : message.error;
  if (inner === noParams) {
    const { params, ...rest } = message as OutgoingNotification;
    return rest;
  }
  const extra = typeof inner === "object" && inner !== null ? beside(inner) : undefined;
  if (extra === undefined) return message;
  if (!("method" in message && "params" in extra)) return { ...message, ...extra };
  const { params, ...rest } = extra;
  // An edge may have given params to what came without.
  const none = Object.keys(inner as object).length === 0;
  return { ...message, ...(none ? { params: params as undefined } : undefined), ...rest } as OutgoingMessage;
}
