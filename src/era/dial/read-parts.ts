import { type Context, extended, isObject, type Replies, type Request } from "../../core/index.js";
import { anywireKeys, PART_BYTES } from "../keys.js";
import { type AnsweredPeer, answeredHere } from "./answered-here.js";
import type { Peer } from "./peer.js";

/** A read whose answer may come piece by piece. */
export function readParts(peer: AnsweredPeer & Pick<Peer, "isAnywirePeer">, request: Request, context: Context): Replies {
  const { range, ...plain } = context;
  const given = isObject(request.params["_meta"]) ? request.params["_meta"] : undefined;
  const asked = { offset: range?.offset ?? 0, chunkSize: range?.chunkSize ?? PART_BYTES };
  const bare = peer.isAnywirePeer && given !== undefined && Object.keys(given).length === 0 ? { [anywireKeys.bare]: "meta" } : undefined;
  const params = extended(request.params, { _meta: extended(given, { [anywireKeys.chunked]: asked, ...bare }) });
  return answeredHere(peer, { method: request.method, params }, plain, "content");
}
