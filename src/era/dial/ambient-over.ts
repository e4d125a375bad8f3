import { type Context, failing, type Replies, type Request } from "../../core/index.js";
import { answeredHere } from "./answered-here.js";
import type { Peer } from "./peer.js";

/** What belongs to no call, from a modern peer. An Anywire end also brings what a legacy server behind it says so to a legacy client. */
export function ambientOver(peer: Peer, request: Request, context: Context): Replies {
  // Its questions end it, as they end every modern call; with the answers it goes on.
  if (peer.kin && context.client.era === "legacy") return answeredHere(peer, request, context, "start");
  return context.cancel.reason === undefined ? peer.unnamed.listen(context, false, () => {}) : failing(context.cancel.reason);
}
