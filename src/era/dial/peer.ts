import type {
  Id,
  Incoming,
  IncomingError,
  IncomingNotification,
  IncomingPart,
  IncomingRequest,
  IncomingResult,
  OutgoingMessage,
} from "../../codec/index.js";
import {
  type Context,
  Fault,
  fromRpcError,
  type JsonObject,
  type Limits,
  RELEASE,
  type Replies,
  type Reply,
  type Request,
  toFault,
  toRpcError,
} from "../../core/index.js";
import { Registry } from "../../stream/index.js";
import type { Stamps } from "../envelope.js";
import { keptFor } from "../kept.js";
import { own, WINDOW_BYTES } from "../keys.js";
import type { Link } from "../link.js";
import { randomToken } from "../seal.js";
import { type AmbientCall, ambientCall } from "./ambient.js";
import { deliver } from "./deliver.js";
import { type Caller, LinkCall } from "./link-call.js";

/** What differs between the eras of a peer. */
export interface Manner {
  /** The params as this peer expects them. */
  params(call: LinkCall, id: Id): JsonObject;
  /** A request of the peer. */
  request(message: IncomingRequest): void;
  /** A notification that is neither progress nor names its call; true if it was this manner's business. */
  notification(message: IncomingNotification): boolean;
  /** Hears of a call about to be sent, and of its end. */
  opened?(call: LinkCall): void;
  ended?(call: LinkCall): void;
}

/** What a call carries for the link: its token if it wants progress, and for a peer that keeps to credit the first of it. */
export function stampsOf(peer: Peer, call: LinkCall, id: Id): Stamps {
  return {
    progressToken: call.context.progress ? id : undefined,
    window: peer.credits && !peer.apart(call) ? peer.windowOf(call) : undefined,
    pageSize: peer.kin || peer.parts ? call.context.pageSize : undefined,
  };
}

/** Messages read before their server is told, however light they are here: it may weigh them otherwise. */
const UNTOLD = 64;

/** How many ids of given-up calls are remembered, so that their late answers count as late and not as wrong. */
const REMEMBERED = 4096;

/** The calling side of a link: ids, progress tokens, and which message belongs to which call. */
export class Peer implements Caller {
  readonly callBytes: number;
  readonly inFlight: number;
  readonly pending: Registry<LinkCall> = new Registry();
  readonly ambient: Set<AmbientCall> = new Set();
  /** Who has called here. What names no call is delivered only while that is one client: it may be about any of them. */
  readonly #keys = new Set<string>();
  /** Whether the peer is an Anywire end, which knows Anywire's own notifications. */
  kin = false;
  /** Whether the peer keeps to the credit a call grants it. */
  credits = false;
  manner: Manner | undefined;
  get counts(): boolean {
    return this.credits;
  }
  /** The key of what the edge itself calls, which is nobody's. */
  readonly ownKey: string = randomToken();
  /** Set when the handshake is done; until then a peer may only ping. */
  ready = false;
  readonly #link: Link;
  readonly #limits: Limits;
  readonly #onFault: (fault: Fault) => void;
  /** Answers to the peer that the link has not made room for yet. */
  #unread = 0;
  /** Ids of calls that were given up, and their methods. */
  readonly #left = new Map<Id, string>();
  /** What was read of each call and its server does not know of. */
  readonly #owed = new Map<LinkCall, { messages: number; bytes: number }>();
  #nextId = 1;
  #arrival = 0;
  #gone: Fault | undefined;
  /** Resolves as soon as nothing more can come, with the reason; what the link leaves behind may still be cleared away. */
  readonly ended: Promise<Fault>;
  #end: (reason: Fault) => void = () => {};

  constructor(link: Link, limits: Limits, onFault: (fault: Fault) => void) {
    this.#link = link;
    this.#limits = limits;
    this.#onFault = onFault;
    this.callBytes = limits.callBytes;
    this.inFlight = limits.inFlight;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    void this.#read();
  }

  /** Whether a call has a stream of its own, that can be held up. */
  apart(call: LinkCall): boolean {
    return this.#link.pace !== undefined && (this.#link.apart?.(call.request.method) ?? true);
  }

  /** Whether answers come piece by piece. */
  get parts(): boolean {
    return this.#link.parts === true;
  }

  get gone(): Fault | undefined {
    return this.#gone;
  }

  call(request: Request, context: Context): LinkCall {
    return new LinkCall(request, context, this);
  }

  /** Opens a call of the pseudo-method that brings what belongs to no call. */
  ambientCall(context: Context): Replies {
    this.#known(context);
    const call: AmbientCall = ambientCall(context, this.callBytes, () => this.ambient.delete(call));
    if (this.#gone !== undefined) call.fail(this.#gone);
    else this.ambient.add(call);
    return call;
  }

  open(call: LinkCall): Id {
    if (this.#gone !== undefined) throw this.#gone;
    if (this.#link.backlog > this.#limits.backlogBytes)
      throw new Fault("overload", "the peer does not read: too much waits to be sent to it", {
        data: { limit: "backlogBytes", max: this.#limits.backlogBytes },
      });
    this.#known(call.context);
    this.manner?.opened?.(call);
    const id = this.#nextId++;
    const params = this.manner?.params(call, id) ?? call.request.params;
    this.pending.set(id, call);
    const { deadline } = call.context;
    this.#link
      .send({ jsonrpc: "2.0", id, method: call.request.method, params }, undefined, deadline)
      .catch((error) => this.#unsent(id, toFault(error)));
    return id;
  }

  /** A request that could not be written fails alone, unless the link went with it. */
  #unsent(id: Id, fault: Fault): void {
    const call = this.pending.get(id);
    this.#forget(id, call);
    call?.fail(fault);
  }

  close(call: LinkCall, tell: boolean, reason?: Fault): void {
    if (!this.pending.delete(call.id)) return;
    this.#owed.delete(call);
    const ended = (): void => this.manner?.ended?.(call);
    if (!tell || this.#gone !== undefined) return ended();
    this.#remember(call.id, call.request.method);
    const params = { requestId: call.id, ...(reason === undefined ? undefined : { reason: reason.message }) };
    // First of all the peer hears that the call is given up: the refusal of its asks alone would look like an answer to it.
    this.notify("notifications/cancelled", params).then(ended, ended);
  }

  /** Gives a call up without a word to the peer, if it is still open. */
  forsake(call: LinkCall): void {
    if (!this.pending.has(call.id)) return;
    this.#forget(call.id, call);
    this.#remember(call.id, call.request.method);
    call.fail(new Fault("cancelled", "the call was given up"));
  }

  pace(call: LinkCall, held: boolean): void {
    this.#link.pace?.(call.id, held);
  }

  /** Nobody read the result: what it speaks of will not be asked for. */
  unread(call: LinkCall, result: JsonObject): void {
    const kept = keptFor(call.request.method, result);
    if (kept !== undefined) this.release(kept);
  }

  /** Tells an Anywire peer that nobody will come for what it keeps. */
  release(kept: JsonObject): void {
    if (this.kin && this.#gone === undefined) this.notify(RELEASE, kept).catch(() => {});
  }

  /** Bytes under way for a call. A read is one of few, and fills a long line only with much under way. */
  windowOf(call: LinkCall): number {
    const wide = this.parts && call.request.method === "resources/read";
    return wide ? Math.max(WINDOW_BYTES, Math.floor(this.callBytes * 0.875)) : WINDOW_BYTES;
  }

  consumed(call: LinkCall, bytes: number): void {
    if (!this.credits || !this.pending.has(call.id) || this.apart(call)) return;
    let owed = this.#owed.get(call);
    if (owed === undefined) this.#owed.set(call, (owed = { messages: 0, bytes: 0 }));
    owed.messages++;
    owed.bytes += bytes;
    if (owed.bytes < this.windowOf(call) / 2 && owed.messages < UNTOLD) return;
    const { messages } = owed;
    this.#owed.delete(call);
    this.notify(own.credit, { requestId: call.id, messages }).catch(() => {});
  }

  notify(method: string, params: JsonObject): Promise<void> {
    return this.#link.send(Object.keys(params).length === 0 ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params });
  }

  /** A request whose answer nobody waits for. */
  tell(method: string, params: JsonObject): void {
    const id = this.#nextId++;
    this.#remember(id, method);
    this.#link.send({ jsonrpc: "2.0", id, method, params }).catch(() => {});
  }

  /** Answers a request of the peer. One that asks on and does not read the answers is left, because they would pile up here. */
  answer(message: OutgoingMessage): void {
    this.#unread++;
    const taken = (): void => {
      this.#unread--;
    };
    this.#link.send(message).then(taken, (error) => {
      taken();
      const fault = toFault(error);
      this.#onFault(fault);
      // An answer that cannot be written becomes an error: the peer is not left waiting.
      if ("result" in message && fault.code !== "unavailable")
        this.answer({ jsonrpc: "2.0", id: message.id, error: toRpcError(fault, "legacy") });
    });
    const max = this.inFlight;
    if (this.#unread > max)
      void this.shut(new Fault("overload", "the peer asks and does not read the answers", { data: { limit: "inFlight", max } }));
  }

  fault(fault: Fault): void {
    this.#onFault(fault);
  }

  /** Whether one client alone has called on this link. */
  get exclusive(): boolean {
    return this.#keys.size <= 1;
  }

  #known(context: Context): void {
    if (this.#keys.size < 2 && context.client.key !== this.ownKey) this.#keys.add(context.client.key);
  }

  /** Gives a reply of no call to the one client's listener for those. */
  pushAmbient(reply: Reply): boolean {
    const first = this.exclusive ? this.ambient.values().next().value : undefined;
    first?.push(reply);
    return first !== undefined;
  }

  /** Arrival numbers order what comes in on one link. */
  arrival(): number {
    return ++this.#arrival;
  }

  async shut(reason: Fault): Promise<void> {
    this.#fail(reason);
    await this.#link.close(reason);
  }

  async #read(): Promise<void> {
    let reason = new Fault("unavailable", "the peer closed the link", { data: { reason: "closed" } });
    try {
      for await (const batch of this.#link.incoming) for (const message of batch) this.#carefully(message);
    } catch (error) {
      reason = toFault(error);
    }
    await this.shut(reason);
  }

  /** What goes wrong with one message is not the end of the link. */
  #carefully(message: Incoming | IncomingPart): void {
    try {
      this.#take(message);
    } catch (error) {
      this.#onFault(toFault(error));
    }
  }

  /** Nothing more will come: every open call hears of it, once. */
  #fail(reason: Fault): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason;
    this.#end(reason);
    const open = this.pending.values();
    this.pending.clear();
    this.#owed.clear();
    for (const call of open) {
      this.manner?.ended?.(call);
      call.fail(reason);
    }
    for (const call of [...this.ambient]) call.fail(reason);
    this.ambient.clear();
  }

  #forget(id: Id, call: LinkCall | undefined): void {
    if (!this.pending.delete(id) || call === undefined) return;
    this.#owed.delete(call);
    this.manner?.ended?.(call);
  }

  #take(message: Incoming | IncomingPart): void {
    switch (message.kind) {
      case "part":
        // One that comes after its call was left is late, not wrong.
        return this.pending.get(message.id)?.push(message.part);
      case "result":
      case "error": {
        const call = message.id === undefined ? undefined : this.pending.get(message.id);
        if (call === undefined) return this.#stray(message);
        this.#forget(call.id, call);
        if (message.kind === "result")
          call.push({
            kind: "result",
            value: message.value,
            at: this.arrival(),
            ...(message.size === undefined ? undefined : { weight: message.size }),
          });
        else call.fail(fromRpcError(message.error));
        return;
      }
      case "notification":
        return deliver(this, message);
      case "request":
        return this.manner === undefined || !this.ready ? this.#tooEarly(message) : this.manner.request(message);
      case "batch":
        for (const each of message.messages) this.#carefully(each);
        return;
      case "bad":
        this.#onFault(message.fault);
        // What would have answered a call has to end it, and what was a request has to be answered: else someone would wait for ever.
        if (message.answers !== undefined && this.pending.has(message.answers)) this.#unsent(message.answers, message.fault);
        else if (message.id !== undefined) this.answer({ jsonrpc: "2.0", id: message.id, error: toRpcError(message.fault, "legacy") });
    }
  }

  /** An answer to this id may still come, and is then not wrong. */
  #remember(id: Id, method: string): void {
    this.#left.set(id, method);
    if (this.#left.size > REMEMBERED) this.#left.delete(this.#left.keys().next().value as Id);
  }

  #stray(message: IncomingResult | IncomingError): void {
    const method = message.id === undefined ? undefined : this.#left.get(message.id);
    if (message.id === undefined || method === undefined) {
      const error = message.kind === "error" && message.id === undefined ? `an error of no call: ${message.error.message}` : undefined;
      return this.#onFault(
        new Fault("invalid-request", `the peer sent ${error ?? `a response to no open call: id ${JSON.stringify(message.id)}`}`),
      );
    }
    this.#left.delete(message.id);
    // It crossed with the cancel, so the peer does not know that nobody will come back.
    const kept = message.kind === "result" ? keptFor(method, message.value) : undefined;
    if (kept !== undefined) this.release(kept);
  }

  #tooEarly(message: IncomingRequest): void {
    this.answer(
      message.method === "ping"
        ? { jsonrpc: "2.0", id: message.id, result: {} }
        : { jsonrpc: "2.0", id: message.id, error: { code: -32600, message: "the session is not initialised" } },
    );
  }

  /** The one call that is open, where it must be what a message without a name is about. */
  sole(): LinkCall | undefined {
    const only = this.pending.size === 1 && this.exclusive ? this.pending.values()[0] : undefined;
    return only === undefined || this.isOwn(only) ? undefined : only;
  }

  /** Whether the edge itself makes a call: nobody reads what comes for it but its result. */
  isOwn(call: LinkCall): boolean {
    return call.context.client.key === this.ownKey;
  }
}
