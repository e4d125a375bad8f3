import {
  hasRoom,
  type Id,
  type IncomingError,
  type IncomingResult,
  type Link,
  type LinkTraits,
  type Outgoing,
  type SendOptions,
} from "../../codec/index.js";
import {
  Caller,
  type Context,
  type FanIn,
  Fault,
  type Identity,
  type JsonObject,
  type Limits,
  type LogReply,
  type NoteReply,
  outgoingMetadata,
  RELEASE,
  type Request,
  sharedByAll,
  toFault,
} from "../../core/index.js";
import { Registry } from "../../stream/index.js";
import { keptFor } from "../kept.js";
import { anywireKeys } from "../keys.js";
import type { LinkWatch } from "../watch/link-watch.js";
import { Reach } from "../watch/reach.js";
import { PeerAnswers } from "./answers.js";
import { Credit } from "./credit.js";
import type { EraRules } from "./era-rules.js";
import { GivenUp } from "./given-up.js";
import { LinkCall, type LinkCaller } from "./link-call.js";
import { Presence } from "./presence.js";
import { receive } from "./receive.js";
import { Unnamed } from "./unnamed.js";

/** The calling side of a link: its open calls by id, and what the peer is told about them. */
export class Peer implements LinkCaller {
  readonly callBytes: number;
  readonly inFlight: number;
  readonly connectionBytes: number;
  readonly pending: Registry<LinkCall> = new Registry();
  /** The caller of the edge's own calls, which no client made. */
  readonly self: Identity = new Caller({ span: "self" });
  readonly presence: Presence;
  readonly unnamed: Unnamed;
  readonly answers: PeerAnswers;
  readonly credit: Credit;
  /** Whether the peer is an Anywire end, which knows Anywire's own notifications. */
  isAnywirePeer = false;
  rules: EraRules | undefined;
  get counts(): boolean {
    return this.credit.kept;
  }
  /** Called when the server has started again, with what a legacy server said about itself. */
  renewed: (initialized: JsonObject) => void = () => {};
  /** Set when the handshake is done. Until then a peer may only ping. */
  ready = false;
  readonly watch: LinkWatch | undefined;
  readonly #reach: Reach | undefined;
  readonly #link: Link;
  readonly #limits: Limits;
  readonly #onFault: (fault: Fault) => void;
  readonly #givenUp = new GivenUp();
  readonly #named = new WeakSet<Identity>();
  #nextId = 1;
  #gone: Fault | undefined;
  /** Resolves with the reason as soon as nothing more can come. The link may still be cleaning up. */
  readonly ended: Promise<Fault>;
  #end: (reason: Fault) => void = () => {};

  constructor(link: Link, limits: Limits, onFault: (fault: Fault) => void, fanIn: FanIn = sharedByAll, watch?: LinkWatch) {
    this.#link = link;
    this.watch = watch;
    this.#reach = watch !== undefined && link.traits.ownStream("tools/call") ? new Reach(watch) : undefined;
    this.presence = new Presence(fanIn);
    this.unnamed = new Unnamed(this.presence, limits.callBytes, (reply) => this.#dropped(reply));
    this.#limits = limits;
    this.#onFault = onFault;
    this.callBytes = limits.callBytes;
    this.inFlight = limits.inFlight;
    this.connectionBytes = limits.connectionBytes;
    this.answers = new PeerAnswers(this, { max: limits.inFlight, onFault, leave: (reason) => void this.shut(reason) });
    this.credit = new Credit(limits.callBytes, link.traits);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    void this.#read();
  }

  get traits(): LinkTraits {
    return this.#link.traits;
  }

  get gone(): Fault | undefined {
    return this.#gone;
  }

  call(request: Request, context: Context): LinkCall {
    return new LinkCall(request, context, this);
  }

  /** The granted window and a little more, because the peer may weigh messages differently. */
  roomFor(call: LinkCall): number {
    const granted = this.credit.kept && !this.traits.ownStream(call.request.method) ? this.credit.windowOf(call) : 0;
    return Math.max(this.callBytes, granted * 1.125);
  }

  open(call: LinkCall): Id {
    if (this.#gone !== undefined) throw this.#gone;
    if (this.#link.backlog > this.#limits.backlogBytes) {
      const data = { limit: "backlogBytes", max: this.#limits.backlogBytes };
      const fault = new Fault("overload", "the peer does not read: too much waits to be sent to it", { data });
      this.watch?.refusal("refused", fault, call.request.method);
      throw fault;
    }
    const metadata = outgoingMetadata(call.context);
    if (metadata !== undefined && !this.traits.ownStream(call.request.method)) throw sharedHeaders();
    const id = this.#nextId++;
    const params = this.rules?.params(call, id) ?? call.request.params;
    this.pending.set(id, call);
    if (call.context.client.identity !== this.self) this.presence.opened(call, id);
    this.rules?.opened?.(call);
    if (this.watch?.observer.call !== undefined) call.watch = this.watch.call(this.rules?.era ?? "legacy", call.request);
    const { deadline } = call.context;
    const sent = this.send({ jsonrpc: "2.0", id, method: call.request.method, params }, { deadline, metadata });
    // A message that cannot be written fails its own call only, unless the link is lost with it.
    if (sent !== hasRoom) sent.catch((error) => this.settle(id)?.fail(toFault(error)));
    return id;
  }

  /** Removes an open call, whatever it ends with. */
  settle(id: Id): LinkCall | undefined {
    const call = this.pending.get(id);
    if (call === undefined) return undefined;
    this.pending.delete(id);
    this.#ended(call, false);
    return call;
  }

  #ended(call: LinkCall, unanswered: boolean): void {
    this.credit.drop(call);
    this.presence.ended(call, unanswered);
    this.rules?.ended?.(call, unanswered);
  }

  close(call: LinkCall, tell: boolean, reason?: Fault): void {
    if (!this.pending.delete(call.id)) return;
    if (!tell || this.#gone !== undefined) return this.#ended(call, false);
    const ended = (): void => this.#ended(call, true);
    this.#givenUp.add(call);
    const params = { requestId: call.id, ...(reason === undefined ? undefined : { reason: reason.message }) };
    // The cancellation goes first: otherwise the refusal of the call's asks would look like an answer.
    this.notify("notifications/cancelled", params).then(ended, ended);
  }

  /** Gives up a call without telling the peer, if it is still open. */
  forsake(call: LinkCall): void {
    if (this.settle(call.id) === undefined) return;
    this.#givenUp.add(call);
    call.fail(new Fault("cancelled", "the call was given up"));
  }

  /** What a legacy server says about itself, if that may be new. */
  refresh(): Promise<JsonObject | undefined> | undefined {
    return this.#link.refresh?.();
  }

  pace(call: LinkCall, held: boolean): void {
    this.#link.pace(call.id, held);
  }

  /** Nobody read the result, so nobody will ask for what it refers to. */
  unread(call: LinkCall, result: JsonObject): void {
    const kept = keptFor(call.request.method, result);
    if (kept !== undefined) this.release(kept);
  }

  /** An answer that no open call waits for. */
  late(message: IncomingResult | IncomingError): void {
    const { kept, identity } = this.#givenUp.take(message);
    if (identity !== undefined) this.presence.answered(identity);
    if (kept !== undefined) this.release(kept);
  }

  /** Tells an Anywire peer that nobody will come back for what it keeps. */
  release(kept: JsonObject): void {
    if (this.isAnywirePeer && this.#gone === undefined) this.notify(RELEASE, kept).catch(() => {});
  }

  consumed(call: LinkCall, bytes: number): void {
    if (!this.credit.kept || !this.pending.has(call.id) || this.traits.ownStream(call.request.method)) return;
    const messages = this.credit.read(call, bytes);
    if (messages > 0) this.notify(anywireKeys.credit, { requestId: call.id, messages }).catch(() => {});
  }

  notify(method: string, params: JsonObject): Promise<void> {
    return this.send({ jsonrpc: "2.0", method, params });
  }

  /** Sends a request whose answer nobody waits for. */
  tell(method: string, params: JsonObject): void {
    const id = this.#nextId++;
    this.#givenUp.addOwn(id, method);
    this.send({ jsonrpc: "2.0", id, method, params }).catch(() => {});
  }

  send(message: Outgoing, options?: SendOptions): Promise<void> {
    this.watch?.sent(message);
    return this.#link.send(message, options);
  }

  #dropped(reply: LogReply | NoteReply): void {
    if (this.watch === undefined) return;
    const method = reply.kind === "log" ? "notifications/message" : reply.method;
    this.watch.refusal("dropped", new Fault("unavailable", `no client can take ${method}`), method);
  }

  fault(fault: Fault): void {
    this.#onFault(fault);
  }

  async shut(reason: Fault): Promise<void> {
    this.#fail(reason);
    await this.#link.close(reason);
  }

  async #read(): Promise<void> {
    let reason = new Fault("unavailable", "the peer closed the link", { data: { reason: "closed" } });
    try {
      for await (const batch of this.#link.incoming) {
        for (const message of batch) {
          this.watch?.received(message);
          if (this.ready) this.#reach?.take(message);
          receive(this, message);
        }
      }
    } catch (error) {
      reason = toFault(error);
    }
    await this.shut(reason);
  }

  /** Fails every open call, once: nothing more will come. */
  #fail(reason: Fault): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason;
    this.#end(reason);
    const open = this.pending.values();
    this.pending.clear();
    this.credit.clear();
    for (const call of open) {
      this.rules?.ended?.(call, true);
      call.fail(reason);
    }
    this.unnamed.fail(reason);
  }

  /** The key by which an Anywire peer knows a caller. The peer is told when the caller has left. */
  nameOf(identity: Identity): string {
    if (!this.#named.has(identity)) {
      this.#named.add(identity);
      identity.ended.on(() => {
        if (this.#gone === undefined) this.notify(anywireKeys.gone, { key: identity.key }).catch(() => {});
      });
    }
    return identity.key;
  }

  /** The open call with that id, unless the edge itself made it: for such a call only the result is read. */
  callOf(id: Id | undefined): LinkCall | undefined {
    const call = id === undefined ? undefined : this.pending.get(id);
    return call?.context.client.identity === this.self ? undefined : call;
  }
}

function sharedHeaders(): Fault {
  return new Fault("invalid-params", 'all calls share one stream, so none can have metadata: use http, or gRPC with calls: "rpc"', {
    data: { reason: "shared-stream" },
  });
}
