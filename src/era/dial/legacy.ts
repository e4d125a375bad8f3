import { namedCall } from "../../codec/index.js";
import {
  AMBIENT,
  askingMethods,
  Canceller,
  type Context,
  extended,
  Fault,
  failing,
  guard,
  isObject,
  type JsonObject,
  legacyMethods,
  meta,
  once,
  type Replies,
  type Request,
  type RpcError,
  resultOf,
  rpcCodes,
} from "../../core/index.js";
import { lacking } from "../capabilities.js";
import { sealLegacy } from "../envelope.js";
import { beyondLink, ofLegacyServer } from "../extensions.js";
import { withServerInfo } from "../modern-members.js";
import { serverAsks } from "./asks.js";
import { changes } from "./changes.js";
import { type EraRules, stampsOf } from "./era-rules.js";
import { sessionLevels } from "./levels.js";
import type { LinkCall } from "./link-call.js";
import type { Peer } from "./peer.js";

/** A legacy peer behind the modern-shaped waist: the session state that the edge keeps. */
export interface LegacyDial {
  readonly rules: EraRules;
  /** The request in the form for a legacy server. Throws a Fault if the server must not get it. */
  accept(request: Request, context: Context): Request;
  call(request: Request, context: Context): Replies | undefined;
  /** The server has started again, and said this about itself. */
  renewed(initialized: JsonObject): void;
}

export function legacyDial(peer: Peer, first: JsonObject, context: (cancel: Canceller) => Context): LegacyDial {
  let initialized = first;
  const capabilities = (): JsonObject => (isObject(initialized["capabilities"]) ? initialized["capabilities"] : {});
  const asks = serverAsks(peer);
  const ask = (method: string, params: JsonObject, trace?: Context["trace"]): Promise<JsonObject> =>
    resultOf(peer.call({ method, params }, { ...context(new Canceller()), ...(trace && { trace }) }));
  const { unnamed, callBytes } = peer;
  const listening = changes({
    capabilities,
    ask,
    callBytes,
    listeners: () => unnamed.listeners,
    onlyListener: () => unnamed.onlyListener,
  });
  const levels = sessionLevels((level) => capabilities()["logging"] !== undefined && peer.tell("logging/setLevel", { level }));
  const unwant = new Map<LinkCall, () => void>();
  void peer.ended.then((reason) => {
    asks.close(reason);
    listening.close(reason);
  });

  const rules: EraRules = {
    era: "legacy",
    params: (call, id) => sealLegacy(call.request, call.context, stampsOf(peer, call, id, "legacy")),
    request: (message) => asks.take(message),
    result({ context }, value) {
      const { serverInfo } = initialized;
      if (context.client.era !== "modern" || !isObject(serverInfo)) return value;
      return extended(value, { _meta: withServerInfo(value["_meta"], serverInfo) });
    },
    notification({ method, params }) {
      if (method !== "notifications/cancelled") return listening.take(method, params);
      asks.withdraw(namedCall(params), params["reason"]);
      return true;
    },
    resultOf: urlsRequired,
    opened(call) {
      const { logLevel, client } = call.context;
      if (logLevel !== undefined) unwant.set(call, levels.want(logLevel, client.identity));
      asks.found(client);
    },
    ended(call, givenUp) {
      unwant.get(call)?.();
      unwant.delete(call);
      asks.ended(call, givenUp);
    },
  };
  const listen = (request: Request, callContext: Context): Replies => {
    const over = peer.gone ?? callContext.cancel.reason;
    if (over !== undefined) return failing(over);
    const left = levels.want(callContext.logLevel, callContext.client.identity);
    const call = peer.unnamed.listen(callContext, request.params["changes"] === true, left);
    asks.found(callContext.client);
    return call;
  };

  return {
    rules,
    accept,
    renewed(again) {
      initialized = again;
    },
    call(request, callContext) {
      const { client } = callContext;
      const { method, params } = request;
      switch (method) {
        case "server/discover":
          return once(callContext, async () => {
            initialized = (await peer.refresh()) ?? initialized;
            return ofLegacyServer(beyondLink(discovered(initialized)));
          });
        case "subscriptions/listen":
          return guard((inner) => listening.listen(params, inner), callContext);
        case AMBIENT:
          return listen(request, callContext);
        case "logging/setLevel":
          return peer.call({ method, params: levels.set(params, client.identity) }, callContext);
        case "resources/subscribe":
          return once(callContext, () => listening.subscribe(params, callContext));
        case "resources/unsubscribe":
          return once(callContext, () => listening.unsubscribe(params, callContext));
        default:
          return undefined;
      }
    },
  };
}

/**
 * A modern caller must not send the session's own requests, nor retry with a state, because a legacy server never gives one. Answers to no
 * question are ignored.
 */
function accept(request: Request, { client }: Context): Request {
  const { method, params } = request;
  if (client.era === "legacy") return request;
  if (legacyMethods.has(method)) throw new Fault("unknown-method", `unknown method: ${method}`);
  if (!askingMethods.has(method)) return request;
  if (params["requestState"] !== undefined)
    throw new Fault("invalid-params", "the requestState is not valid: the server required no input");
  if (params["inputResponses"] === undefined) return request;
  const { inputResponses, ...rest } = params;
  return { method, params: rest };
}

/**
 * A legacy server may want its client to visit pages, and then to make the call again. A modern client has no such error. It gets the pages
 * as questions, and makes the call again with their answers.
 */
function urlsRequired({ request, context: { client } }: LinkCall, { code, data }: RpcError): JsonObject | undefined {
  if (client.era !== "modern" || code !== rpcCodes.urlElicitationRequired || !askingMethods.has(request.method) || !isObject(data))
    return undefined;
  const asked = Array.isArray(data["elicitations"]) ? data["elicitations"].filter(isObject) : [];
  const questions = asked.map((params) => ({ method: "elicitation/create", params }));
  if (questions.length === 0 || questions.some((question) => lacking(question, client.capabilities) !== undefined)) return undefined;
  return { resultType: "input_required", inputRequests: Object.fromEntries(questions.map((question, at) => [`url-${at + 1}`, question])) };
}

/** An InitializeResult as a DiscoverResult. */
export function discovered(initialized: JsonObject): JsonObject {
  const { protocolVersion, serverInfo, _meta, ...rest } = initialized;
  return {
    supportedVersions: [protocolVersion],
    ...rest,
    ...(isObject(rest["capabilities"]) ? undefined : { capabilities: {} }),
    _meta: { ...(isObject(_meta) ? _meta : undefined), ...(serverInfo === undefined ? undefined : { [meta.serverInfo]: serverInfo }) },
  };
}
