import {
  AMBIENT,
  askingMethods,
  Canceller,
  type Context,
  Fault,
  failing,
  guard,
  isObject,
  type JsonObject,
  type LogLevel,
  legacyMethods,
  logLevels,
  meta,
  once,
  type Replies,
  type Reply,
  type Request,
  resultOf,
} from "../../core/index.js";
import { sealLegacy } from "../envelope.js";
import { withoutExtensions } from "../extensions.js";
import { serverAsks } from "./asks.js";
import { changes } from "./changes.js";
import { type Manner, stampsOf } from "./manner.js";
import type { Peer } from "./peer.js";

/** A legacy peer behind the modern-shaped waist: what the edge keeps of its session. */
export interface LegacyDial {
  readonly manner: Manner;
  call(request: Request, context: Context): Replies | undefined;
}

export function legacyDial(peer: Peer, initialized: JsonObject, context: (cancel: Canceller) => Context): LegacyDial {
  const capabilities = isObject(initialized["capabilities"]) ? initialized["capabilities"] : {};
  const asks = serverAsks(peer);
  const ask = (method: string, params: JsonObject): Promise<JsonObject> =>
    resultOf(peer.call({ method, params }, context(new Canceller())));
  const listening = changes({ capabilities, ask, callBytes: peer.callBytes });
  const levels = upstreamLevel(peer, capabilities);
  void peer.ended.then((reason) => {
    asks.close(reason);
    listening.close(reason);
  });

  const manner: Manner = {
    params: (call, id) => sealLegacy(call.request, call.context, stampsOf(peer, call, id)),
    request: (message) => asks.take(message),
    notification({ method, params }) {
      if (method !== "notifications/cancelled") return listening.take(method, params);
      asks.withdraw(params["requestId"] as string | number, params["reason"]);
      return true;
    },
    opened: (call) => levels.want(call.context.logLevel),
    ended: (call) => asks.ended(call),
  };

  return {
    manner,
    call(request, callContext) {
      const refused = callContext.client.era === "modern" ? unknownHere(request) : undefined;
      if (refused !== undefined) return failing(refused);
      if (request.method === "server/discover") return once(callContext, () => withoutExtensions(discovered(initialized)));
      if (request.method === "subscriptions/listen")
        return guard((inner) => listening.listen(request.params, inner) as AsyncGenerator<Reply, JsonObject>, callContext);
      if (request.method === AMBIENT) levels.want(callContext.logLevel);
      return undefined;
    },
  };
}

/** Why a modern caller's request does not go to a legacy server: it is the session's own business, or goes on with what no session kept. */
function unknownHere({ method, params }: Request): Fault | undefined {
  if (legacyMethods.has(method)) return new Fault("unknown-method", `unknown method: ${method}`);
  if (!askingMethods.has(method)) return undefined;
  const member = ["requestState", "inputResponses"].find((name) => params[name] !== undefined);
  return member === undefined ? undefined : new Fault("invalid-params", `the ${member} is not valid: the server required no input`);
}

/** An InitializeResult as the DiscoverResult it stands for. */
export function discovered(initialized: JsonObject): JsonObject {
  const { protocolVersion, serverInfo, _meta, ...rest } = initialized;
  return {
    supportedVersions: [protocolVersion],
    ...rest,
    ...(isObject(rest["capabilities"]) ? undefined : { capabilities: {} }),
    _meta: { ...(isObject(_meta) ? _meta : undefined), ...(serverInfo === undefined ? undefined : { [meta.serverInfo]: serverInfo }) },
  };
}

/** A legacy session has one log level: the most verbose that anyone asked for. Entries are filtered per call. */
function upstreamLevel(peer: Peer, capabilities: JsonObject): { want(level: string | undefined): void } {
  let current: number = logLevels.length;
  return {
    want(level) {
      const at = logLevels.indexOf(level as LogLevel);
      if (at < 0 || at >= current || capabilities["logging"] === undefined) return;
      current = at;
      peer.tell("logging/setLevel", { level });
    },
  };
}
