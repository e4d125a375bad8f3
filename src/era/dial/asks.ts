import { type Id, type IncomingRequest, isId } from "../../codec/index.js";
import {
  type Ask,
  Canceller,
  type Client,
  Fault,
  fixedTimeouts,
  type Identity,
  isObject,
  type JsonObject,
  noParams,
  type Request,
  toRpcError,
  weigh,
} from "../../core/index.js";
import { lacking } from "../capabilities.js";
import { anywireKeys } from "../keys.js";
import type { LinkCall } from "./link-call.js";
import type { Peer } from "./peer.js";
import type { Presence } from "./presence.js";

/** The requests that a legacy server sends to its client. */
export interface ServerAsks {
  take(message: IncomingRequest): void;
  /** The server withdrew its request. */
  withdraw(id: Id | undefined, reason: unknown): void;
  /** A caller has begun to listen, or has made a call in which it can be asked. Questions that were held for it are asked now. */
  found(client: Client): void;
  /** A call has ended. The questions that it was stated for are withdrawn. Others may be about something else, so they move. */
  ended(call: LinkCall, givenUp: boolean): void;
  close(reason: Fault): void;
}

/** A question that is open. */
interface OpenAsk {
  readonly id: Id;
  readonly request: Request;
  readonly progressToken: unknown;
  readonly bytes: number;
  /** How the call in which it was asked was found. */
  origin: Ask["origin"];
  /** The caller it is for; undefined if nobody had called yet. */
  owner: Identity | undefined;
  /** The call in which it was asked. */
  call: LinkCall | undefined;
  /** Withdraws it from where it was last asked. */
  cancel: Canceller;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export function serverAsks(peer: Peer): ServerAsks {
  return new PeerAsks(peer);
}

class PeerAsks implements ServerAsks {
  readonly #peer: Peer;
  readonly #open = new Map<Id, OpenAsk>();
  /** What all of them weigh. */
  #bytes = 0;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  take({ id, method, params, call }: IncomingRequest): void {
    const peer = this.#peer;
    if (method === "ping") return peer.answers.send({ jsonrpc: "2.0", id, result: {} });
    if (this.#open.has(id))
      return peer.fault(new Fault("invalid-request", `the server uses the id ${JSON.stringify(id)} for two open requests`));
    const bytes = weigh(params);
    const fault = this.#full(bytes);
    if (fault !== undefined) {
      peer.watch?.refusal("refused", fault, method);
      return peer.answers.send({ jsonrpc: "2.0", id, error: toRpcError(fault, "legacy") });
    }
    const { progressToken, request, named } = strip(method, params);
    const stated = peer.callOf(isId(named) ? named : call);
    const asked: OpenAsk = {
      id,
      request,
      progressToken,
      bytes,
      origin: "guessed",
      owner: stated?.context.client.identity,
      call: undefined,
      cancel: new Canceller(),
      timer: undefined,
    };
    this.#open.set(id, asked);
    this.#bytes += bytes;
    if (stated !== undefined) return this.#askIn(asked, stated, "stated");
    const owner = peer.presence.owner();
    if (owner === undefined && !peer.presence.nobody) return this.#settle(asked, undefined, ambiguous(request, peer.presence.option));
    if (owner !== undefined && this.#place(asked, owner)) return;
    // The question most likely belongs to the call that was given up, and nobody waits for that.
    if (owner !== undefined && peer.presence.gaveUp(owner)) this.#settle(asked, undefined, nobody(request));
    else this.#hold(asked);
  }

  withdraw(id: Id | undefined, reason: unknown): void {
    if (id === undefined) return this.#peer.fault(new Fault("invalid-request", "a cancellation that names no request"));
    const asked = this.#open.get(id);
    // One that crossed the answer is of no open request, and is ignored, as MCP wants it.
    if (asked === undefined || !this.#forget(asked)) return;
    asked.cancel.fire(new Fault("cancelled", typeof reason === "string" ? reason : "the server withdrew its request"));
  }

  found({ identity }: Client): void {
    const { presence } = this.#peer;
    for (const asked of this.#open.values()) {
      if (asked.timer === undefined) continue;
      const owner = asked.owner ?? presence.owner();
      if (owner === undefined) this.#settle(asked, undefined, ambiguous(asked.request, presence.option));
      else if (owner === identity && this.#place(asked, owner)) {
        clearTimeout(asked.timer);
        asked.timer = undefined;
      }
    }
  }

  ended(call: LinkCall, givenUp: boolean): void {
    const { identity } = call.context.client;
    for (const asked of [...this.#open.values()]) {
      if (asked.call !== call) continue;
      const gone = new Fault("cancelled", "the call that this was asked for has ended");
      const before = asked.cancel;
      // A server may ask outside its calls. A client that listens is asked there, unless it gave the call up.
      const late = asked.origin === "sole" && !givenUp && this.#peer.unnamed.listener(identity) !== undefined;
      if (!(asked.origin === "guessed" || late) || !this.#place(asked, identity)) this.#settle(asked, undefined, gone);
      before.fire(gone);
    }
  }

  close(reason: Fault): void {
    for (const asked of [...this.#open.values()]) {
      this.#forget(asked);
      asked.cancel.fire(reason);
    }
  }

  /** Why there is no room for a question of so many bytes. One alone always has room. */
  #full(bytes: number): Fault | undefined {
    const { inFlight, connectionBytes } = this.#peer;
    if (this.#open.size >= inFlight)
      return new Fault("overload", "too many questions at a time", { data: { limit: "inFlight", max: inFlight } });
    if (this.#open.size === 0 || this.#bytes + bytes <= connectionBytes) return undefined;
    const data = { limit: "connectionBytes", max: connectionBytes };
    return new Fault("overload", "the questions that wait for answers take too much memory", { data });
  }

  /** Forgets a question. False if it was not open. */
  #forget({ id, bytes, timer }: OpenAsk): boolean {
    if (!this.#open.delete(id)) return false;
    this.#bytes -= bytes;
    clearTimeout(timer);
    return true;
  }

  #settle(asked: OpenAsk, result: JsonObject | undefined, fault: Fault | undefined): void {
    if (!this.#forget(asked)) return;
    // No client was asked this question.
    if (fault !== undefined && asked.call === undefined) this.#peer.watch?.refusal("refused", fault, asked.request.method);
    this.#peer.answers.send(
      fault === undefined
        ? { jsonrpc: "2.0", id: asked.id, result: result ?? {} }
        : { jsonrpc: "2.0", id: asked.id, error: toRpcError(fault, "legacy") },
    );
  }

  /** The question as an ask. A question that moves is a new ask for the call that gets it. */
  #askOf(asked: OpenAsk, origin: Ask["origin"]): Ask {
    const peer = this.#peer;
    const cancel = (asked.cancel = new Canceller());
    const { id, request, progressToken } = asked;
    const current = (): boolean => this.#open.get(id) === asked && asked.cancel === cancel;
    return {
      key: String(id),
      request,
      origin,
      cancel,
      wantsProgress: progressToken !== undefined,
      answer: (result) => void (current() && this.#settle(asked, result, undefined)),
      refuse: (fault) => void (current() && this.#settle(asked, undefined, fault)),
      progress(progress) {
        if (progressToken !== undefined && current()) peer.notify("notifications/progress", { progressToken, ...progress }).catch(() => {});
      },
    };
  }

  #askIn(asked: OpenAsk, call: LinkCall, origin: Ask["origin"]): void {
    asked.call = call;
    asked.origin = origin;
    call.push({ kind: "ask", ask: this.#askOf(asked, origin) });
  }

  /** Asks the owner in a call, or where it listens; false if neither is possible. */
  #place(asked: OpenAsk, owner: Identity): boolean {
    asked.owner = owner;
    const calls = this.#peer.presence.calls(owner);
    const listener = this.#peer.unnamed.listener(owner);
    const able = calls.filter((call) => lacking(asked.request, call.context.client.capabilities) === undefined);
    const inCall = able[0] ?? calls[0];
    if (inCall !== undefined && (calls.length === 1 || listener === undefined)) {
      this.#askIn(asked, inCall, calls.length === 1 ? "sole" : "guessed");
      return true;
    }
    if (listener === undefined) return false;
    asked.call = undefined;
    const ask = this.#askOf(asked, "guessed");
    if (!listener.push({ kind: "ask", ask })) {
      const data = { limit: "callBytes", max: this.#peer.callBytes };
      ask.refuse(new Fault("overload", "the client does not read its questions", { data }));
    }
    return true;
  }

  #hold(asked: OpenAsk): void {
    asked.call = undefined;
    asked.cancel = new Canceller();
    asked.timer ??= setTimeout(() => this.#settle(asked, undefined, nobody(asked.request)), fixedTimeouts.questionMs);
  }
}

function ambiguous({ method }: Request, { name, use }: Presence["option"]): Fault {
  const message = `${method} names no call. Several clients share this connection, so Anywire cannot tell which client it is for. Give each client its own connection with ${use}`;
  return new Fault("unavailable", message, { data: { reason: "ambiguous-client", option: name } });
}

function nobody({ method }: Request): Fault {
  return new Fault("unknown-method", `no client here can answer ${method}`);
}

function strip(method: string, params: JsonObject): { progressToken: unknown; named: unknown; request: Request } {
  const found = params["_meta"];
  if (!isObject(found)) return { progressToken: undefined, named: undefined, request: { method, params } };
  const { progressToken, [anywireKeys.call]: named, [anywireKeys.bare]: bare, ...others } = found;
  const { _meta, ...rest } = params;
  const kept = progressToken === undefined && named === undefined;
  return {
    progressToken,
    named,
    request: {
      method,
      params: kept ? params : bare === "absent" ? noParams : Object.keys(others).length > 0 ? { ...rest, _meta: others } : rest,
    },
  };
}
