import { timerMs, unref } from "../stream/index.js";
import type { Cancel } from "./cancel.js";
import { Fault } from "./fault.js";
import { type Identity, quotaOwner } from "./identity.js";
import type { Limits } from "./limits.js";
import { Owned } from "./owned.js";

/** Keeps live things between two requests. The number is limited in total and for each caller. Each expires, and can be taken once. */
export interface Park<T> {
  /**
   * Keeps `value` under `key` for `who`, until `gone` fires. At a limit the oldest value of the same caller makes room, never that of
   * another. If that is not possible, `value` is released, and this throws `overload` with the name of the limit.
   */
  put(key: string, value: T, who: Identity, gone?: Cancel): void;
  /** Takes the value out, if it is still there. */
  take(key: string): T | undefined;
  /** Releases the value now; false if it is not there. */
  drop(key: string): boolean;
  readonly size: number;
  /** Releases everything. */
  clear(): void;
}

export interface ParkOptions<T> {
  readonly limits: Pick<Limits, "parked" | "parkedPerPrincipal" | "parkedPerCaller">;
  readonly ms: number;
  /** Milliseconds after which a caller's oldest value may make room for its next. */
  readonly spareMs: number;
  /** Releases a value that nobody came back for. */
  readonly release: (value: T) => void;
}

interface Parked<T> {
  readonly value: T;
  readonly since: number;
  readonly owner: string;
  /** The key of the caller, where it can be told apart; otherwise its owner. */
  readonly caller: string;
  readonly unhook: (() => void) | undefined;
}

/** A `Park` with these limits. A value that expires or makes room is passed to `release`. */
export function park<T>({ limits, ms, spareMs, release }: ParkOptions<T>): Park<T> {
  // Insertion order is expiry order, because every value is kept equally long: one timer serves the oldest.
  const kept = new Map<string, Parked<T>>();
  const owned = new Owned<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const remove = (key: string): Parked<T> | undefined => {
    const entry = kept.get(key);
    if (entry === undefined) return undefined;
    kept.delete(key);
    owned.delete(entry.owner, key);
    owned.delete(entry.caller, key);
    entry.unhook?.();
    return entry;
  };
  const drop = (key: string): boolean => {
    const entry = remove(key);
    if (entry !== undefined) release(entry.value);
    return entry !== undefined;
  };
  const oldest = (): [string, Parked<T>] | undefined => kept.entries().next().value;
  const arm = (): void => {
    const first = oldest();
    if (first === undefined) {
      clearTimeout(timer);
      timer = undefined;
    } else if (timer === undefined) {
      timer = setTimeout(sweep, timerMs(Math.max(0, first[1].since + ms - Date.now())));
      // A parked value must not keep the process running. In a browser a timer is a number.
      unref(timer);
    }
  };
  const sweep = (): void => {
    timer = undefined;
    for (let first = oldest(); first !== undefined && first[1].since + ms <= Date.now(); first = oldest()) drop(first[0]);
    arm();
  };
  const reached = (owner: string, caller: string): keyof typeof limits | undefined => {
    if (caller !== owner && owned.of(caller).size >= limits.parkedPerCaller) return "parkedPerCaller";
    if (owned.of(owner).size >= limits.parkedPerPrincipal) return "parkedPerPrincipal";
    return kept.size >= limits.parked ? "parked" : undefined;
  };
  const makeRoom = (owner: string, caller: string): keyof typeof limits | undefined => {
    const limit = reached(owner, caller);
    if (limit === undefined) return undefined;
    const [first] = owned.of(caller);
    if (first === undefined || (kept.get(first)?.since ?? 0) + spareMs > Date.now()) return limit;
    drop(first);
    return undefined;
  };

  return {
    put(key, value, who, gone) {
      if (gone?.fired === true) return release(value);
      const lasting = who.span === "lasting";
      const owner = quotaOwner(who, lasting ? who.key : undefined);
      const caller = lasting ? `caller ${who.key}` : owner;
      const limit = makeRoom(owner, caller);
      if (limit !== undefined) {
        release(value);
        throw new Fault("overload", "too many parked requests wait for their caller", { data: { limit, max: limits[limit] } });
      }
      const unhook = gone?.on(() => drop(key));
      kept.set(key, { value, since: Date.now(), owner, caller, unhook });
      owned.add(owner, key);
      owned.add(caller, key);
      arm();
    },
    take(key) {
      const entry = remove(key);
      arm();
      return entry?.value;
    },
    drop(key) {
      const there = drop(key);
      arm();
      return there;
    },
    get size() {
      return kept.size;
    },
    clear() {
      for (const key of [...kept.keys()]) drop(key);
      arm();
    },
  };
}
