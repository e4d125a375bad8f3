import { AMBIENT, type Context, failing, type Replies, type Request } from "../../core/index.js";
import { answeredHere } from "./answered-here.js";
import type { Peer } from "./peer.js";

/**
 * The messages of a modern peer that belong to no call. `apart`: the peer is an Anywire end that passes on to a legacy client what the
 * legacy server behind it says outside any call.
 */
export function ambientOver(peer: Peer, request: Request, context: Context, apart: boolean): Replies {
  // A question ends this call, as it ends every modern call. With the answer the call is made again.
  if (apart && context.client.era === "legacy" && hasRoom(peer)) return answeredHere(peer, request, context, "start");
  return context.cancel.reason === undefined ? peer.unnamed.listen(context, false, () => {}) : failing(context.cancel.reason);
}

/** Where each ambient call takes a connection of its own, some must be left for other calls. */
const MOST_CONNECTIONS = 256;

function hasRoom(peer: Peer): boolean {
  if (!peer.traits.ownStream(AMBIENT)) return true;
  let open = 0;
  for (const { request } of peer.pending.values()) if (request.method === AMBIENT) open++;
  return open < MOST_CONNECTIONS;
}
