import type { Id, IncomingNotification, IncomingRequest } from "../../codec/index.js";
import { type Era, isObject, type JsonObject, noParams } from "../../core/index.js";
import type { RelayedCaller, Stamps } from "../envelope.js";
import type { LinkCall } from "./link-call.js";
import type { Peer } from "./peer.js";

/** What differs between the eras of a peer. */
export interface EraRules {
  readonly era: Era;
  /** The params as this peer expects them. */
  params(call: LinkCall, id: Id): JsonObject;
  /** A request of the peer. */
  request(message: IncomingRequest): void;
  /** A notification that is neither progress nor names its call; true if it was this rules's business. */
  notification(message: IncomingNotification): boolean;
  /** Hears of a call about to be sent, and of its end. */
  opened?(call: LinkCall): void;
  ended?(call: LinkCall): void;
}

/** What a call carries for the link: its token if it wants progress, and for an Anywire peer who makes it and its first credit. */
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
    peer: method === "server/discover" && call.context.client.identity === peer.self,
  };
}

/** What of the params would not be there without the stamps. */
function bareness(params: JsonObject): Stamps["bare"] {
  if (params === noParams) return "absent";
  const kept = params["_meta"];
  return isObject(kept) && Object.keys(kept).length === 0 ? "meta" : undefined;
}

/** Who makes a call, where that is not the link itself. */
function callerOf(peer: Peer, call: LinkCall, era: Era): RelayedCaller | undefined {
  const { client } = call.context;
  const { identity } = client;
  if (identity === peer.self) return undefined;
  const version = era === "modern" && client.era === "legacy" ? { version: client.protocolVersion } : undefined;
  // A legacy client of this program is not what a modern link takes its caller for, so it needs a name too.
  const named = identity.span === "lasting" || (identity.span === "self" && version !== undefined);
  if (named) return { key: peer.nameOf(identity), ...version };
  // Without a word it would be taken for a call of the link itself.
  return identity.span === "call" ? { ...version } : undefined;
}
