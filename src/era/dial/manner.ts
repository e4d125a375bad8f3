import type { Id, IncomingNotification, IncomingRequest } from "../../codec/index.js";
import type { JsonObject } from "../../core/index.js";
import type { Stamps } from "../envelope.js";
import type { LinkCall } from "./link-call.js";
import type { Peer } from "./peer.js";

/** What differs between the eras of a peer. */
export interface Manner {
  /** The params as this peer expects them. */
  params(call: LinkCall, id: Id): JsonObject;
  /** A request of the peer. */
  request(message: IncomingRequest): void;
  /** A notification that is neither progress nor names its call; true if it was this manner's business. */
  notification(message: IncomingNotification): boolean;
  /** Hears of a call about to be sent, and of its end. */
  opened?(call: LinkCall): void;
  ended?(call: LinkCall): void;
}

/** What a call carries for the link: its token if it wants progress, and for a peer that keeps to credit the first of it. */
export function stampsOf(peer: Peer, call: LinkCall, id: Id): Stamps {
  return {
    progressToken: call.context.progress ? id : undefined,
    window: peer.credit.kept && !peer.traits.ownStream(call.request.method) ? peer.credit.windowOf(call) : undefined,
    pageSize: peer.kin || peer.traits.inParts(call.request.method) ? call.context.pageSize : undefined,
  };
}
