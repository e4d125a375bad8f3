import { type Id, type IncomingError, type IncomingResult, isId, type OutgoingMessage, type SendOptions } from "../../codec/index.js";
import { type Ask, type Client, type Fault, fromRpcError, isObject, type JsonObject, noParams, toFault } from "../../core/index.js";
import { lacking } from "../capabilities.js";
import { anywireKeys } from "../keys.js";
import { randomToken } from "../seal.js";

/** The requests that a server sends to its legacy client in their session. */
export interface AskClient {
  /** Whether a question waits for an answer. */
  readonly waiting: boolean;
  /**
   * Sends an ask as a request. `call` is the client's request that it belongs to; `stated`: the request says so, because the client
   * understands it.
   */
  ask(ask: Ask, call: Id | undefined, stated: boolean): Promise<void>;
  /** A call is over: what its client was sent to a page for is complete. A modern server does not say that itself. */
  ended(call: Id): Promise<void> | undefined;
  /** Takes a response; true if it answers an ask. */
  settle(response: IncomingResult | IncomingError): boolean;
  /** Refuses an ask whose answer could not be read; false if there is no such ask. */
  refuseUnreadable(id: Id, fault: Fault): boolean;
  progress(params: JsonObject): void;
  /** Ends all asks: no answer will come. */
  close(reason: Fault): void;
}

export function askClient(client: Client, send: (message: OutgoingMessage, options?: SendOptions) => Promise<void>): AskClient {
  const open = new Map<Id, { readonly ask: Ask; readonly call: Id | undefined; readonly unhook: () => void }>();
  /** The elicitations by URL that this edge gave an id and the client accepted, by their calls. */
  const visited = new Map<Id, string[]>();
  // A late answer, on the stream of another session, must not be taken for an answer to a question of this one.
  const mark = randomToken().slice(0, 8);
  let count = 0;

  const end = (id: Id): Ask | undefined => {
    const entry = open.get(id);
    open.delete(id);
    entry?.unhook();
    return entry?.ask;
  };
  const accepted = (id: Id, result: JsonObject): void => {
    const { ask, call } = open.get(id) ?? {};
    if (call === undefined || ask === undefined || result["action"] !== "accept" || !lacksId(ask)) return;
    visited.set(call, [...(visited.get(call) ?? []), String(id)]);
  };

  return {
    get waiting() {
      return open.size > 0;
    },
    ask(ask, call, stated) {
      const refused = lacking(ask.request, client.capabilities);
      if (refused !== undefined) {
        ask.refuse(refused);
        return Promise.resolve();
      }
      if (ask.cancel.fired) return Promise.resolve();
      const id = `ask-${mark}-${++count}`;
      const unhook = ask.cancel.on(() => {
        open.delete(id);
        send({
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: id, reason: ask.cancel.reason?.message ?? "withdrawn" },
        }).catch(() => {});
      });
      open.set(id, { ask, call, unhook });
      const { method } = ask.request;
      const params = lacksId(ask) ? { ...ask.request.params, elicitationId: id } : ask.request.params;
      const stamps = {
        ...(ask.wantsProgress ? { progressToken: id } : undefined),
        ...(stated ? { [anywireKeys.call]: call } : undefined),
        ...(stated && params === noParams ? { [anywireKeys.bare]: "absent" } : undefined),
      };
      const kept = isObject(params["_meta"]) ? params["_meta"] : undefined;
      const stamped = Object.keys(stamps).length === 0 ? params : { ...params, _meta: { ...kept, ...stamps } };
      // If the question cannot be sent, it is refused. The asker decides what that means.
      return send({ jsonrpc: "2.0", id, method, params: stamped }, { call }).catch((error) => end(id)?.refuse(toFault(error)));
    },
    ended(call) {
      const ids = visited.size === 0 ? undefined : visited.get(call);
      if (ids === undefined) return undefined;
      visited.delete(call);
      const complete = ids.map((elicitationId) =>
        send({ jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId } }, { call }).catch(() => {}),
      );
      return Promise.all(complete).then(() => {});
    },
    settle(response) {
      if (response.kind === "result") accepted(response.id, response.value);
      const ask = response.id === undefined ? undefined : end(response.id);
      if (ask === undefined) return false;
      if (response.kind === "result") ask.answer(response.value);
      else ask.refuse(fromRpcError(response.error));
      return true;
    },
    refuseUnreadable(id, fault) {
      const ask = end(id);
      ask?.refuse(fault);
      return ask !== undefined;
    },
    progress(params) {
      const { progressToken, ...rest } = params;
      if (isId(progressToken)) open.get(progressToken)?.ask.progress(rest);
    },
    close(reason) {
      for (const id of [...open.keys()]) end(id)?.refuse(reason);
    },
  };
}

/** Legacy clients need an id for an elicitation by URL, which modern servers do not give. */
function lacksId({ request: { method, params } }: Ask): boolean {
  return method === "elicitation/create" && params["mode"] === "url" && params["elicitationId"] === undefined;
}
