import type { Id, IncomingNotification, IncomingRequest } from "../../codec/index.js";
import { type Era, isObject, type JsonObject, noParams, type RpcError } from "../../core/index.js";
import type { RelayedCaller, Stamps } from "../envelope.js";
import type { LinkCall } from "./link-call.js";
import type { Peer } from "./peer.js";

/** What differs between the eras of a peer. */
export interface EraRules {
  readonly era: Era;
  /** The params in the form that this peer expects. */
  params(call: LinkCall, id: Id): JsonObject;
  /** Handles a request of the peer. */
  request(message: IncomingRequest): void;
  /** Handles a notification that is not progress and names no call; true if it was handled. */
  notification(message: IncomingNotification): boolean;
  /** The result in the form that the caller expects. */
  result?(call: LinkCall, value: JsonObject): JsonObject;
  /** The result that stands for an error; undefined if the call fails with it. */
  resultOf?(call: LinkCall, error: RpcError): JsonObject | undefined;
  /** Called when a call is about to be sent, and when it has ended. */
  opened?(call: LinkCall): void;
  ended?(call: LinkCall, givenUp: boolean): void;
}

/** What a call carries for the link: its token if it wants progress; for an Anywire peer also the caller and the first credit. */
export function stampsOf(peer: Peer, call: LinkCall, id: Id, era: Era): Stamps {
  const { method } = call.request;
  const { traits, isAnywirePeer } = peer;
  return {
    progressToken: call.context.progress ? id : undefined,
    window: peer.credit.kept && !traits.ownStream(method) ? peer.credit.windowOf(call) : undefined,
    pageSize: isAnywirePeer || traits.inParts(method) ? call.context.pageSize : undefined,
    onePage: isAnywirePeer && call.context.onePage === true && traits.inParts(method),
    caller: isAnywirePeer ? callerOf(peer, call, era) : undefined,
    bare: isAnywirePeer ? bareness(call.request.params) : undefined,
    peer: method === "server/discover" && (isAnywirePeer || call.context.client.identity === peer.self),
  };
}

/** Which parts of the params exist only because of the stamps. */
function bareness(params: JsonObject): Stamps["bare"] {
  if (params === noParams) return "absent";
  const kept = params["_meta"];
  return isObject(kept) && Object.keys(kept).length === 0 ? "meta" : undefined;
}

/** Who makes a call, if it is not the link itself. */
function callerOf(peer: Peer, call: LinkCall, era: Era): RelayedCaller | undefined {
  const { client } = call.context;
  const { identity } = client;
  if (identity === peer.self) return undefined;
  const version = era === "modern" && client.era === "legacy" ? { version: client.protocolVersion } : undefined;
  // A modern link would take the caller for a modern one, so a legacy client of this program needs a name too.
  const named = identity.span === "lasting" || (identity.span === "self" && version !== undefined);
  if (named) return { key: peer.nameOf(identity), ...version };
  // Without this, the peer would take it for a call of the link itself.
  return identity.span === "call" ? { ...version } : undefined;
}
