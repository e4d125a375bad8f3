import {
  AMBIENT,
  type Connection,
  type Context,
  type Era,
  Fault,
  failing,
  fixedTimeouts,
  guard,
  itemsOfPages,
  type JsonObject,
  listMembers,
  type Message,
  once,
  RELEASE,
  type Replies,
  type Request,
  resultOf,
  toFault,
} from "../../core/index.js";
import { withoutModern } from "../envelope.js";
import { beyondLink, isAnywireLink, isLegacyServer } from "../extensions.js";
import { ambientOver } from "./ambient-over.js";
import type { LegacyDial } from "./legacy.js";
import type { Peer } from "./peer.js";
import { readParts } from "./read-parts.js";
import { SharedListens } from "./shared-listens.js";

/** The outcome of a handshake. */
export interface Agreed {
  readonly era: Era;
  readonly version: string;
  /** The peer's answer to `server/discover`, or what stands for it. */
  readonly found: JsonObject;
  readonly legacy?: LegacyDial;
}

/** A peer as a service, after the handshake. */
export function connection(peer: Peer, agreed: Agreed): Connection {
  const { legacy, era } = agreed;
  peer.isAnywirePeer = isAnywireLink(agreed.found);
  peer.credit.kept = peer.isAnywirePeer;
  // An Anywire end in front of a legacy server tells the callers apart, so it has to know who listens.
  const apart = peer.isAnywirePeer && isLegacyServer(agreed.found);
  peer.ready = true;
  const plain = (request: Request, context: Context): Replies => peer.call(request, context);
  let closing: Promise<void> | undefined;
  // The handshake's result answers a discover that follows at once. A later one asks the server, which may be another by then.
  const until = Date.now() + fixedTimeouts.freshMs;
  let found: JsonObject | undefined = beyondLink(agreed.found);
  const listens = new SharedListens({ self: peer.self, callBytes: peer.callBytes, call: plain });
  peer.renewed = (initialized) => {
    found = undefined;
    legacy?.renewed(initialized);
  };
  const discover = async (request: Request, context: Context): Promise<JsonObject> => {
    const known = Date.now() < until ? found : undefined;
    found = undefined;
    return known ?? beyondLink(await resultOf(plain(request, context)));
  };

  const close = (): Promise<void> => {
    closing ??= peer.shut(new Fault("unavailable", "the connection was closed", { data: { reason: "closed" } }));
    return closing;
  };
  return {
    era,
    protocolVersion: agreed.version,
    closed: peer.ended.then((reason) => (closing === undefined ? reason : undefined)),
    call(asked, context) {
      if (peer.gone !== undefined) return failing(peer.gone);
      let request = asked;
      try {
        if (legacy !== undefined) request = legacy.accept(asked, context);
      } catch (error) {
        return failing(toFault(error));
      }
      const { method, params } = request;
      const local = legacy?.call(request, context);
      if (local !== undefined) return local;
      if (method === AMBIENT) return ambientOver(peer, request, context, apart);
      if (method === "subscriptions/listen" && !apart && SharedListens.takes(request, context))
        return guard((inner) => listens.listen(request, inner), context);
      if (method === "server/discover") return once(context, (inner) => discover(request, inner));
      const member = listMembers.get(method);
      if (member !== undefined && !peer.traits.inParts(method)) {
        const { cursor, ...rest } = params;
        // The first page is asked for as the client does, whose cursor may be of any type.
        const fetch = (at: string | undefined): Replies =>
          plain({ method, params: at === undefined ? params : { ...rest, cursor: at } }, context);
        return itemsOfPages(fetch, member, {
          cursor: typeof cursor === "string" ? cursor : undefined,
          release: (at) => peer.release({ method, cursor: at }),
        });
      }
      if (method !== "resources/read") return plain(request, context);
      if (peer.traits.inParts(method) || peer.isAnywirePeer) return readParts(peer, request, context);
      return plain(request, context);
    },
    notify({ method, params }: Message, { client }: Context) {
      if (method === RELEASE) return Promise.resolve(peer.release(params));
      const told = era === "legacy" && client.era === "modern" ? withoutModern(params) : params;
      return peer.gone === undefined ? peer.notify(method, told) : Promise.reject(peer.gone);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
