import { Caller, fixedTimeouts, type Identity, type IdentityOptions, Owned, quotaOwner } from "../../core/index.js";
import { timerMs, unref } from "../../stream/index.js";

/**
 * How long callers without a connection of their own are remembered, how many in total, and how many of one principal or remote address.
 */
const CALLER_IDLE_MS = fixedTimeouts.callerIdleMs;
const MOST_CALLERS = 10_000;
const MOST_OF_ONE: number = MOST_CALLERS / 2;

/** An identity for the time of one call. */
export interface CallerLease {
  readonly identity: Identity;
  /** The call has ended. */
  release(): void;
}

interface Known {
  readonly caller: Caller;
  readonly owner: string;
  calls: number;
  touched: number;
}

/**
 * The callers that are known by a name instead of a connection: principals whose requests come one by one, and the clients of a relay. Each
 * is remembered while it calls and for a while after that.
 */
export class KnownCallers {
  readonly #idleMs: number;
  /** The least recently used first. */
  readonly #known = new Map<string, Known>();
  /** Their names by owner, in the same order. */
  readonly #owned = new Owned<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(idleMs: number = CALLER_IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** The caller of that name. If too many are known, the caller counts for this call only. */
  lease(name: string, options: IdentityOptions): CallerLease {
    const known = this.#known.get(name) ?? this.#begin(options);
    if (known === undefined) return callerOfOneCall(options);
    this.#known.delete(name);
    this.#known.set(name, known);
    this.#owned.add(known.owner, name);
    this.#owned.touch(known.owner, name);
    known.calls++;
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      known.calls--;
      known.touched = Date.now();
      this.#arm();
    };
    return { identity: known.caller, release };
  }

  /** The caller of that name has left. */
  end(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    this.#known.delete(name);
    this.#owned.delete(known.owner, name);
    known.caller.end();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const name of [...this.#known.keys()]) this.end(name);
  }

  #begin(options: IdentityOptions): Known | undefined {
    const owner = quotaOwner(options);
    // An owner that names many callers only displaces its own idle ones.
    const own = this.#owned.of(owner);
    if (own.size >= MOST_OF_ONE && !this.#forgetIdle(own)) return undefined;
    if (this.#known.size >= MOST_CALLERS && !this.#forgetIdle(this.#known.keys())) return undefined;
    return { caller: new Caller(options), owner, calls: 0, touched: Date.now() };
  }

  #forgetIdle(names: Iterable<string>): boolean {
    for (const name of names) {
      if (this.#known.get(name)?.calls !== 0) continue;
      this.end(name);
      return true;
    }
    return false;
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#sweep(), timerMs(this.#idleMs));
    // In a browser a timer is a number.
    unref(this.#timer);
  }

  #sweep(): void {
    this.#timer = undefined;
    const idle = Date.now() - this.#idleMs;
    for (const [name, { calls, touched }] of this.#known) if (calls === 0 && touched <= idle) this.end(name);
    if (this.#known.size > 0) this.#arm();
  }
}

/** Callers of one call that wait for its retry, and whether they are to end after that. */
const waiting = new WeakMap<Identity, { over: boolean }>();

/** A caller that cannot be told apart from others. It is known for one call with its retries. */
export function callerOfOneCall({ principal, remote, session, idle }: IdentityOptions): CallerLease {
  const identity = new Caller({ principal, remote, session, idle, span: "call" });
  const release = (): void => {
    const retried = waiting.get(identity);
    if (retried === undefined) identity.end();
    else retried.over = true;
  };
  return { identity, release };
}

/** Keeps a caller of one call, because its call goes on in another request. The returned function says that the call has ended. */
export function keepCaller(identity: Identity): () => void {
  if (!(identity instanceof Caller) || identity.span !== "call") return () => {};
  const retried = { over: false };
  waiting.set(identity, retried);
  return () => {
    waiting.delete(identity);
    if (retried.over) identity.end();
  };
}
