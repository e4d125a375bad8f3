import type { Id } from "../../codec/index.js";
import { AMBIENT, type FanIn, type Identity, listMembers, type PresentCallers } from "../../core/index.js";
import { Registry } from "../../stream/index.js";
import type { LinkCall } from "./link-call.js";

/** Milliseconds that a call which was given up may still be what its server speaks of. */
export const GIVEN_UP_MS = 5_000;
/** Callers that are gone and still remembered for that; beyond, nobody can be told apart for a while. */
const MOST_GONE = 1024;

interface Present {
  readonly identity: Identity;
  /** Its open calls in which a server may ask or log, the oldest first. */
  readonly asking: Registry<LinkCall>;
  /** All its open calls. */
  calls: number;
  /** Calls that it gave up and that were not answered, and until when they may still be spoken of. */
  givenUp: number;
  until: number;
  unhook: () => void;
}

/** Who calls on a link, for as long as each can be told apart. */
export class Presence {
  readonly #fanIn: FanIn;
  readonly #present = new Registry<Present>();
  #gone = 0;
  /** Until when too many were forgotten for anyone to be sure. */
  #crowded = 0;

  constructor(fanIn: FanIn) {
    this.#fanIn = fanIn;
  }

  /** What whoever set the connection up can do where nobody can tell. */
  get option(): { readonly name: string; readonly use: string } {
    return this.#fanIn.option ?? { name: "fanIn", use: "the option fanIn" };
  }

  /** A caller shows itself, by a call or by listening. */
  attach(identity: Identity): Present {
    const known = this.#present.get(identity.serial);
    if (known !== undefined) return known;
    const present: Present = { identity, asking: new Registry(), calls: 0, givenUp: 0, until: 0, unhook: () => {} };
    this.#present.set(identity.serial, present);
    if (identity.ended.fired) this.#gone++;
    else
      present.unhook = identity.ended.on(() => {
        this.#gone++;
        this.#forget(present);
      });
    return present;
  }

  opened(call: LinkCall, id: Id): void {
    const present = this.attach(call.context.client.identity);
    present.calls++;
    if (mayAsk(call.request.method)) present.asking.set(id, call);
  }

  /** `unanswered`: the caller gave it up, and its server may not have heard of that. */
  ended(call: LinkCall, unanswered: boolean): void {
    const { identity } = call.context.client;
    const present = this.#present.get(identity.serial);
    if (present === undefined) return;
    present.calls--;
    if (present.asking.delete(call.id) && unanswered) {
      present.givenUp++;
      present.until = Date.now() + GIVEN_UP_MS;
    }
    this.#forget(present);
  }

  /** The answer to a call that was given up came after all. */
  answered(identity: Identity): void {
    const present = this.#present.get(identity.serial);
    if (present === undefined || present.givenUp === 0) return;
    if (--present.givenUp === 0) present.until = 0;
    this.#forget(present);
  }

  /** Whose it is what names no call. */
  owner(): Identity | undefined {
    const now = Date.now();
    if (now < this.#crowded) return undefined;
    this.#prune(now);
    return this.#fanIn.owner(this.#callers(now));
  }

  /** Whether a caller gave up a call a moment ago that its server may still speak of. */
  gaveUp(identity: Identity): boolean {
    return (this.#present.get(identity.serial)?.until ?? 0) > Date.now();
  }

  /** Whether nobody has called yet, or everybody has gone. */
  get nobody(): boolean {
    return this.#present.size === 0;
  }

  /** The open calls of a caller in which a server may ask or log, the oldest first. */
  calls(identity: Identity): readonly LinkCall[] {
    return this.#present.get(identity.serial)?.asking.values() ?? [];
  }

  #callers(now: number): PresentCallers {
    const asking = new Set<Identity>();
    const present = new Set<Identity>();
    for (const { identity, asking: open, until } of this.#present.values()) {
      if (open.size > 0 || until > now) asking.add(identity);
      if (!identity.ended.fired) present.add(identity.session ?? identity);
    }
    return { asking, present };
  }

  #forget(present: Present): void {
    if (!present.identity.ended.fired || present.calls > 0) return;
    if (present.until > Date.now()) {
      if (this.#gone > MOST_GONE) this.#prune(Date.now());
      if (this.#gone <= MOST_GONE) return;
      this.#crowded = Math.max(this.#crowded, present.until);
    }
    this.#delete(present);
  }

  #prune(now: number): void {
    if (this.#gone === 0) return;
    for (const present of this.#present.values())
      if (present.identity.ended.fired && present.calls === 0 && present.until <= now) this.#delete(present);
  }

  #delete(present: Present): void {
    present.unhook();
    if (this.#present.delete(present.identity.serial)) this.#gone--;
  }
}

/** Whether a server may ask or log in a call of that method. Those of a vendor may do anything. */
export function mayAsk(method: string): boolean {
  return !quiet.has(method);
}

const quiet: ReadonlySet<string> = new Set([
  ...listMembers.keys(),
  AMBIENT,
  "subscriptions/listen",
  "server/discover",
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
]);
