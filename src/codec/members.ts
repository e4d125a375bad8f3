import { envelopeMembers, type JsonObject, noParams, withEnvelopeMembers } from "../core/index.js";
import type { OutgoingMessage, OutgoingNotification } from "./jsonrpc.js";

/** The params of a message whose params are null. */
export const nullParams: JsonObject = Object.freeze(withEnvelopeMembers({}, { params: null }));

/** Params together with the other members of their message. */
export function paramsBeside(params: JsonObject, extra: JsonObject): JsonObject {
  const said = params === noParams ? { params: undefined } : envelopeMembers(params);
  return withEnvelopeMembers(params, said === undefined ? extra : { ...extra, ...said });
}

/** A message in the form to write: with the members that originally stood beside its params, result or error. */
export function whole(message: OutgoingMessage): OutgoingMessage {
  const inner = "method" in message ? message.params : "result" in message ? message.result : message.error;
  if (inner === noParams) {
    const { params, ...rest } = message as OutgoingNotification;
    return rest;
  }
  const extra = typeof inner === "object" && inner !== null ? envelopeMembers(inner) : undefined;
  if (extra === undefined) return message;
  if (!("method" in message && "params" in extra)) return { ...message, ...extra };
  const { params, ...rest } = extra;
  // An edge may have added params to a message that had none.
  const none = Object.keys(inner as object).length === 0;
  return { ...message, ...(none ? { params: params as undefined } : undefined), ...rest } as OutgoingMessage;
}
