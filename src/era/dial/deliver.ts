import { type IncomingNotification, isId } from "../../codec/index.js";
import { beside, isObject, type JsonObject, type LogReply, meta, type NoteReply, noParams, withBeside } from "../../core/index.js";
import { anywireKeys } from "../keys.js";
import type { Peer } from "./peer.js";

/** Brings a notification to the call it belongs to; one that names none goes by what its kind lets one conclude. */
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
    // A legacy session has one level for all of its calls.
    if (reply.kind !== "log" || call?.wantsLog(reply.params["level"]) === true) call?.push(reply);
    // Nobody reads it, but it has been taken off the link all the same.
    else if (call !== undefined) peer.consumed(call, 0);
    return;
  }
  const carrier = peer.callOf(message.call);
  const reply = replyOf(method, params);
  if (carrier !== undefined) {
    // A legacy server sends all that its session's level lets through, also what this caller did not ask for.
    if (reply.kind === "note" || carrier.wantsLog(reply.params["level"])) carrier.push(reply);
    return;
  }
  if (peer.rules?.notification(message) === true) return;
  peer.unnamed.deliver(reply.kind === "log" ? { ...reply, ambient: true } : reply);
}

function replyOf(method: string, params: JsonObject): LogReply | NoteReply {
  return method === "notifications/message" ? { kind: "log", params } : { kind: "note", method, params };
}

/** Params without the `_meta` that only said where they belong. */
function without(params: JsonObject, named: JsonObject): JsonObject {
  const { [meta.subscriptionId]: subscription, [anywireKeys.call]: call, [anywireKeys.bare]: bare, ...others } = named;
  const { _meta, ...rest } = params;
  if (bare === "absent") return beside(rest) === undefined ? noParams : withBeside(rest, { ...beside(rest), params: undefined });
  if (bare === "null") return withBeside(rest, { ...beside(rest), params: null });
  return Object.keys(others).length > 0 ? { ...rest, _meta: others } : rest;
}
