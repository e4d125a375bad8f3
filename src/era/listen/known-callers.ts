import { Caller, type Identity, type IdentityOptions } from "../../core/index.js";

/** How long callers without a connection of their own are remembered, and how many. */
export const CALLER_IDLE_MS: number = 5 * 60_000;
const MOST_CALLERS = 10_000;

/** An identity for the time of one call. */
export interface CallerLease {
  readonly identity: Identity;
  /** The call has ended. */
  release(): void;
}

interface Known {
  readonly caller: Caller;
  calls: number;
  touched: number;
}

/**
 * The callers that are known by a name and not by a connection: principals whose requests come each by itself, and the clients of a
 * relay. Each is remembered while it calls and for a while after that.
 */
export class KnownCallers {
  readonly #idleMs: number;
  /** The least recently used comes first. */
  readonly #known = new Map<string, Known>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(idleMs: number = CALLER_IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** The caller of that name. Where too many are known, it is one of this call alone. */
  lease(name: string, options: IdentityOptions): CallerLease {
    const known = this.#known.get(name) ?? this.#begin(options);
    if (known === undefined) return callerOfOneCall(options);
    this.#known.delete(name);
    this.#known.set(name, known);
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

  /** The caller of that name has gone. */
  end(name: string): void {
    const known = this.#known.get(name);
    this.#known.delete(name);
    known?.caller.end();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const name of [...this.#known.keys()]) this.end(name);
  }

  #begin(options: IdentityOptions): Known | undefined {
    if (this.#known.size >= MOST_CALLERS) {
      const idle = [...this.#known].find(([, { calls }]) => calls === 0);
      if (idle === undefined) return undefined;
      this.end(idle[0]);
    }
    return { caller: new Caller(options), calls: 0, touched: Date.now() };
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#sweep(), this.#idleMs);
    // In a browser a timer is a number.
    (this.#timer as { unref?(): void }).unref?.();
  }

  #sweep(): void {
    this.#timer = undefined;
    const idle = Date.now() - this.#idleMs;
    for (const [name, { calls, touched }] of this.#known) if (calls === 0 && touched <= idle) this.end(name);
    if (this.#known.size > 0) this.#arm();
  }
}

/** A caller that nothing tells apart from others: it is known for one call. */
export function callerOfOneCall(options: IdentityOptions): CallerLease {
  const identity = new Caller({ ...options, span: "call" });
  return { identity, release: () => identity.end() };
}
