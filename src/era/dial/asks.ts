import type { Id, IncomingRequest } from "../../codec/index.js";
import { type Ask, askingMethods, Canceller, Fault, isObject, type JsonObject, toRpcError } from "../../core/index.js";
import { own } from "../keys.js";
import type { LinkCall } from "./link-call.js";
import type { Peer } from "./peer.js";

/** The requests that a legacy server makes of its client. */
export interface ServerAsks {
  take(message: IncomingRequest): void;
  /** The server withdrew its request. */
  withdraw(id: Id, reason: unknown): void;
  /** A call ended: what was asked on its behalf is not wanted any more. */
  ended(call: LinkCall): void;
  close(reason: Fault): void;
}

interface Open {
  readonly cancel: Canceller;
  readonly call: LinkCall | undefined;
}

export function serverAsks(peer: Peer): ServerAsks {
  const open = new Map<Id, Open>();

  const reply = (id: Id, result: JsonObject | undefined, fault: Fault | undefined): void => {
    if (!open.delete(id)) return;
    const message =
      fault === undefined
        ? { jsonrpc: "2.0" as const, id, result: result ?? {} }
        : { jsonrpc: "2.0" as const, id, error: toRpcError(fault, "legacy") };
    peer.answers.send(message);
  };

  return {
    take({ id, method, params, call }) {
      if (method === "ping") {
        peer.answers.send({ jsonrpc: "2.0", id, result: {} });
        return;
      }
      if (open.has(id)) {
        peer.fault(new Fault("invalid-request", `the server uses the id ${JSON.stringify(id)} twice at a time`));
        return;
      }
      if (open.size >= peer.inFlight) {
        const fault = new Fault("overload", "too many questions at a time", { data: { limit: "inFlight", max: peer.inFlight } });
        return peer.answers.send({ jsonrpc: "2.0", id, error: toRpcError(fault, "legacy") });
      }
      const found = owner(peer, params, call);
      const cancel = new Canceller();
      open.set(id, { cancel, call: found.call });
      const { token, request } = strip(method, params);
      const ask: Ask = {
        key: String(id),
        request,
        origin: found.origin,
        cancel,
        wantsProgress: token !== undefined,
        answer: (result) => reply(id, result, undefined),
        refuse: (fault) => reply(id, undefined, fault),
        progress(progress) {
          if (token !== undefined && open.has(id))
            peer.notify("notifications/progress", { progressToken: token, ...progress }).catch(() => {});
        },
      };
      if (found.call !== undefined) return found.call.push({ kind: "ask", ask });
      const delivered = peer.audience.push({ kind: "ask", ask });
      if (!delivered) ask.refuse(new Fault("unknown-method", `there is nobody here to answer ${method}`));
    },
    withdraw(id, reason) {
      const entry = open.get(id);
      if (entry === undefined)
        return peer.fault(new Fault("invalid-request", `a cancellation of no open request: id ${JSON.stringify(id)}`));
      open.delete(id);
      entry.cancel.fire(new Fault("cancelled", typeof reason === "string" ? reason : "the server withdrew its request"));
    },
    ended(call) {
      for (const [id, entry] of [...open]) {
        if (entry.call !== call) continue;
        const gone = new Fault("cancelled", "the call that this was asked for has ended");
        reply(id, undefined, gone);
        entry.cancel.fire(gone);
      }
    },
    close(reason) {
      const entries = [...open.values()];
      open.clear();
      for (const { cancel } of entries) cancel.fire(reason);
    },
  };
}

/** Whose ask it is. Where several clients share the link nobody can tell, so nobody gets it. */
function owner(peer: Peer, params: JsonObject, carrier: Id | undefined): { call: LinkCall | undefined; origin: Ask["origin"] } {
  const named = isObject(params["_meta"]) ? params["_meta"][own.call] : undefined;
  const stated = peer.pending.get((named ?? carrier) as Id);
  if (stated !== undefined) return { call: stated, origin: "stated" };
  if (!peer.audience.exclusive) return { call: undefined, origin: "guessed" };
  const asking = peer.pending.values().filter((call) => askingMethods.has(call.request.method));
  if (asking.length === 1) return { call: asking[0], origin: "sole" };
  if (peer.audience.listens) return { call: undefined, origin: "guessed" };
  return { call: asking.at(-1) ?? peer.pending.values().at(-1), origin: "guessed" };
}

function strip(method: string, params: JsonObject): { token: unknown; request: { method: string; params: JsonObject } } {
  const found = params["_meta"];
  if (!isObject(found)) return { token: undefined, request: { method, params } };
  const { progressToken, [own.call]: call, ...others } = found;
  const { _meta, ...rest } = params;
  return { token: progressToken, request: { method, params: Object.keys(others).length > 0 ? { ...rest, _meta: others } : rest } };
}
