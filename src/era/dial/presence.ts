import type { Id } from "../../codec/index.js";
import { AMBIENT, type FanIn, type Identity, listMembers, type PresentCallers } from "../../core/index.js";
import { Registry } from "../../stream/index.js";
import type { LinkCall } from "./link-call.js";

/** Milliseconds during which a server may still refer to a call that was given up. */
export const GIVEN_UP_MS = 5_000;
/** Limit on callers that have left and are still remembered for that. Beyond it, callers cannot be told apart for a while. */
const MOST_GONE = 1024;

interface Present {
  readonly identity: Identity;
  /** Its open calls in which a server may ask or log, the oldest first. */
  readonly asking: Registry<LinkCall>;
  /** All its open calls. */
  calls: number;
  /** Calls that it gave up without an answer, and until when the server may still refer to them. */
  givenUp: number;
  until: number;
  unhook: () => void;
}

/** Who calls on a link, as long as each caller can be told apart. */
export class Presence {
  readonly #fanIn: FanIn;
  readonly #present = new Registry<Present>();
  #gone = 0;
  /** Until this time, too many callers were forgotten to be sure of any. */
  #crowded = 0;

  constructor(fanIn: FanIn) {
    this.#fanIn = fanIn;
  }

  /** The option to suggest where no owner can be found. */
  get option(): { readonly name: string; readonly use: string } {
    return this.#fanIn.option ?? { name: "fanIn", use: "the option fanIn" };
  }

  /** Notes a caller that calls or listens. */
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

  /** `unanswered`: the caller gave up the call, and its server may not know that yet. */
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

  /** The answer to a call that was given up has come after all. */
  answered(identity: Identity): void {
    const present = this.#present.get(identity.serial);
    if (present === undefined || present.givenUp === 0) return;
    if (--present.givenUp === 0) present.until = 0;
    this.#forget(present);
  }

  /** The caller that gets a message in which the server names no call. */
  owner(): Identity | undefined {
    const now = Date.now();
    if (now < this.#crowded) return undefined;
    this.#prune(now);
    return this.#fanIn.owner(this.#callers(now));
  }

  /** Whether a caller has just given up a call that its server may still refer to. */
  gaveUp(identity: Identity): boolean {
    return (this.#present.get(identity.serial)?.until ?? 0) > Date.now();
  }

  /** Whether nobody has called yet, or everybody has left. */
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

/** Whether a server may ask or log in a call of that method. A vendor's own methods may do anything. */
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
