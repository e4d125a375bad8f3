import { type IncomingNotification, isId } from "../../codec/index.js";
import {
  envelopeMembers,
  isObject,
  type JsonObject,
  type LogReply,
  meta,
  type NoteReply,
  noParams,
  withEnvelopeMembers,
} from "../../core/index.js";
import { anywireKeys } from "../keys.js";
import type { Peer } from "./peer.js";

/** Delivers a notification to the call that it belongs to. If it names none, its kind decides. */
export function deliver(peer: Peer, message: IncomingNotification): void {
  const { method, params } = message;
  if (method === "notifications/progress") {
    const { progressToken, ...rest } = params;
    if (isId(progressToken)) peer.pending.get(progressToken)?.push({ kind: "progress", params: rest });
    return;
  }
  if (method === anywireKeys.renewed) return peer.renewed(params);
  const named = isObject(params["_meta"]) ? params["_meta"] : undefined;
  const id = named?.[meta.subscriptionId] ?? named?.[anywireKeys.call];
  if (named !== undefined && id !== undefined) {
    const call = isId(id) ? peer.pending.get(id) : undefined;
    const reply = replyOf(method, without(params, named));
    // A legacy session has one log level for all its calls.
    if (reply.kind !== "log" || call?.wantsLog(reply.params["level"]) === true) call?.push(reply);
    // Nobody reads it, but it was taken off the link, so it counts as read.
    else if (call !== undefined) peer.consumed(call, 0);
    return;
  }
  const carrier = peer.callOf(message.call);
  const reply = replyOf(method, params);
  if (carrier !== undefined) {
    // A legacy server sends everything that the level of its session lets through, including what this caller did not ask for.
    if (reply.kind === "note" || carrier.wantsLog(reply.params["level"])) carrier.push(reply);
    return;
  }
  if (peer.rules?.notification(message) === true) return;
  peer.unnamed.deliver(reply.kind === "log" ? { ...reply, ambient: true } : reply);
}

function replyOf(method: string, params: JsonObject): LogReply | NoteReply {
  return method === "notifications/message" ? { kind: "log", params } : { kind: "note", method, params };
}

/** Params without the `_meta` keys that only name the call. */
function without(params: JsonObject, named: JsonObject): JsonObject {
  const { [meta.subscriptionId]: subscription, [anywireKeys.call]: call, [anywireKeys.bare]: bare, ...others } = named;
  const { _meta, ...rest } = params;
  if (bare === "absent")
    return envelopeMembers(rest) === undefined ? noParams : withEnvelopeMembers(rest, { ...envelopeMembers(rest), params: undefined });
  if (bare === "null") return withEnvelopeMembers(rest, { ...envelopeMembers(rest), params: null });
  return Object.keys(others).length > 0 ? { ...rest, _meta: others } : rest;
}
