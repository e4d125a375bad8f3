import { AMBIENT, type Context, failing, type Replies, type Request } from "../../core/index.js";
import { answeredHere } from "./answered-here.js";
import type { Peer } from "./peer.js";

/** What belongs to no call, from a modern peer. `apart`: it is an Anywire end that brings a legacy client what the legacy server behind it says so. */
export function ambientOver(peer: Peer, request: Request, context: Context, apart: boolean): Replies {
  // Its questions end it, as they end every modern call; with the answers it goes on.
  if (apart && context.client.era === "legacy" && hasRoom(peer)) return answeredHere(peer, request, context, "start");
  return context.cancel.reason === undefined ? peer.unnamed.listen(context, false, () => {}) : failing(context.cancel.reason);
}

/** Where each such call takes a connection, the others need some too. */
const MOST_CONNECTIONS = 256;

function hasRoom(peer: Peer): boolean {
  if (!peer.traits.ownStream(AMBIENT)) return true;
  let open = 0;
  for (const { request } of peer.pending.values()) if (request.method === AMBIENT) open++;
  return open < MOST_CONNECTIONS;
}
