import { type Context, type Identity, type LogReply, type NoteReply, weigh } from "../../core/index.js";
import { type AmbientCall, ambientCall } from "./ambient.js";
import type { LinkCall } from "./link-call.js";
import type { Presence } from "./presence.js";

/** Limit on the messages held for a client that does not listen yet. */
const HELD_ITEMS = 64;

type UnnamedReply = LogReply | NoteReply;

interface HeldMessage {
  readonly reply: UnnamedReply;
  /** Undefined if nobody had called yet. */
  readonly identity: Identity | undefined;
}

/** Delivers to a caller what its server says outside any call, or without naming one. */
export class Unnamed {
  readonly #presence: Presence;
  readonly #bytes: number;
  readonly #onDrop: (reply: UnnamedReply) => void;
  readonly #listeners = new Map<Identity, AmbientCall>();
  #held: HeldMessage[] = [];
  #heldBytes = 0;

  /** At most `bytes` may wait for one reader. */
  constructor(presence: Presence, bytes: number, onDrop: (reply: UnnamedReply) => void) {
    this.#presence = presence;
    this.#bytes = bytes;
    this.#onDrop = onDrop;
  }

  /** Opens a client's ambient call, which delivers what belongs to none of its calls. A newer one replaces it. */
  listen(context: Context, changes: boolean, left: () => void): AmbientCall {
    const { identity } = context.client;
    this.#presence.attach(identity);
    const call: AmbientCall = ambientCall(context, { bytes: this.#bytes, changes }, () => {
      if (this.#listeners.get(identity) === call) this.#listeners.delete(identity);
      left();
    });
    this.#listeners.set(identity, call);
    this.#release(identity, call);
    return call;
  }

  /** The ambient call of a caller. */
  listener(identity: Identity): AmbientCall | undefined {
    return this.#listeners.get(identity);
  }

  get listeners(): Iterable<AmbientCall> {
    return this.#listeners.values();
  }

  /** The ambient call of the only caller that a message without a call can be for. */
  get onlyListener(): AmbientCall | undefined {
    const owner = this.#presence.owner();
    return owner && this.#listenerFor(owner);
  }

  /** Delivers a log entry or notification that names no call. */
  deliver(reply: UnnamedReply): void {
    const owner = this.#presence.owner();
    if (owner === undefined) return this.#presence.nobody ? this.#hold(reply, undefined) : this.#drop(reply);
    const call = this.#callFor(owner, reply);
    if (call !== undefined) return call.offer(reply) ? undefined : this.#drop(reply);
    const listener = this.#listenerFor(owner);
    if (listener === undefined) return this.#hold(reply, owner);
    if (!listener.push(reply)) this.#drop(reply);
  }

  /** Fails all ambient calls: nothing more will come. */
  fail(reason: Parameters<AmbientCall["fail"]>[0]): void {
    for (const call of [...this.#listeners.values()]) call.fail(reason);
    this.#listeners.clear();
    this.#held = [];
  }

  /** A client of a relay does not listen itself. The session that it shares listens, and the relay knows which client it is for. */
  #listenerFor(owner: Identity): AmbientCall | undefined {
    return this.#listeners.get(owner) ?? (owner.session && this.#listeners.get(owner.session));
  }

  /** The call that the message most likely belongs to: one whose reader waits, or else the oldest. */
  #callFor(owner: Identity, reply: UnnamedReply): LinkCall | undefined {
    const wanting = this.#presence.calls(owner).filter((call) => reply.kind === "note" || call.wantsLog(reply.params["level"]));
    return wanting.find((call) => call.waiting) ?? wanting[0];
  }

  #hold(reply: UnnamedReply, identity: Identity | undefined): void {
    const weight = weigh(reply.params);
    if (this.#held.length >= HELD_ITEMS || this.#heldBytes + weight > this.#bytes) return this.#drop(reply);
    this.#held.push({ reply, identity });
    this.#heldBytes += weight;
  }

  #release(identity: Identity, call: AmbientCall): void {
    if (this.#held.length === 0) return;
    const alone = this.#presence.owner() === identity;
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    for (const { reply, identity: whose } of held) {
      if (whose === identity || (whose === undefined && alone)) call.push(reply);
      else if (whose === undefined || whose.ended.fired) this.#drop(reply);
      else this.#hold(reply, whose);
    }
  }

  #drop(reply: UnnamedReply): void {
    this.#onDrop(reply);
  }
}
