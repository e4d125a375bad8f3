import { type Cancel, type FanIn, Fault, type Identity, type JsonObject, jsonText, type Lease, quotaOwner } from "../core/index.js";
import { GIVEN_UP_MS } from "../era/index.js";
import { timerMs, unref } from "../stream/index.js";

/** Milliseconds that an unused member is kept. */
const UNUSED_MS = 60_000;
/** Milliseconds between checks whether a client has left for whose session others wait. */
const LOOK_MS = 1000;

export interface PoolOptions {
  /** The most members. */
  readonly size: number;
  /** How many of these one owner may have at the same time. */
  readonly perOwner: number;
  readonly unusedMs?: number | undefined;
  /** Opens the session of a member, or returns the open one. */
  open(member: PoolMember): Promise<Lease>;
  /** Closes the session of a member. */
  close(member: PoolMember): void;
}

export interface PoolMember {
  readonly name: string;
  /** What its server is told that it may ask. */
  readonly offer: JsonObject;
  /** Everything that its server says without naming a call is for its current or last user. */
  readonly fanIn: FanIn;
}

/** Who wants a session, and what its server may ask. */
export interface PoolCaller {
  readonly identity: Identity;
  readonly offer: JsonObject;
}

interface Waiter {
  readonly caller: PoolCaller;
  go(member: Member): void;
}

interface Member extends PoolMember {
  /** The offer as text. */
  readonly kind: string;
  lessee: Identity | undefined;
  calls: number;
  /** When another caller may have it. */
  freeAt: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Stops listening for the end of the lessee. */
  unhook: () => void;
}

const noop = (): void => {};

/**
 * Sessions that are lent to one caller at a time: while it has a call open, and for a while after that, because the server may still refer
 * to the last call. If none is free, a caller waits. The session of a caller that has left is closed at once, and another is opened in its
 * place. A server is told only once what it may ask, so callers that can be asked different things do not share a session.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #members = new Set<Member>();
  readonly #waiting = new Set<Waiter>();
  /** Runs while there are waiters. */
  #looking: ReturnType<typeof setInterval> | undefined;
  #made = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** A session for one call of a caller. The caller stops waiting when `gone` fires. */
  async lease(caller: PoolCaller, gone: Cancel): Promise<Lease> {
    const member = this.#claim(caller) ?? (await this.#wait(caller, gone));
    let lease: Lease;
    try {
      lease = await this.#options.open(member);
    } catch (error) {
      // The session has said nothing that could be for this caller.
      if (--member.calls === 0) this.#drop(member);
      this.#serve();
      throw error;
    }
    let released = false;
    return {
      service: lease.service,
      release: () => {
        if (released) return;
        released = true;
        lease.release();
        this.#release(member);
      },
    };
  }

  /** Whether a caller has a session. */
  has({ identity, offer }: PoolCaller): boolean {
    const kind = jsonText(offer);
    return [...this.#members].some((member) => member.lessee === identity && member.kind === kind);
  }

  close(): void {
    this.#rest();
    for (const member of this.#members) unwatch(member);
    this.#members.clear();
  }

  /** A member for the caller, which has it from now on. */
  #claim(caller: PoolCaller): Member | undefined {
    const member = this.#found(caller);
    if (member === undefined) return undefined;
    unwatch(member);
    member.lessee = caller.identity;
    member.calls++;
    return member;
  }

  #found({ identity, offer }: PoolCaller): Member | undefined {
    const now = Date.now();
    const owner = quotaOwner(identity, identity.key);
    const kind = jsonText(offer);
    let free: Member | undefined;
    let owned = 0;
    let left: Identity | undefined;
    let replaceable: Member | undefined;
    let ownReplaceable: Member | undefined;
    for (const member of this.#members) {
      const { lessee, calls, freeAt } = member;
      if (lessee === identity && member.kind === kind) return member;
      const isFree = calls === 0 && freeAt <= now;
      // What the server says for a caller that has left is for nobody, so nothing is lost if its session is closed.
      const isSpent = isFree || (calls === 0 && lessee?.ended.fired === true);
      if (isFree && member.kind === kind) free ??= member;
      else if (isSpent) replaceable ??= member;
      if (isFree || lessee === undefined || quotaOwner(lessee, lessee.key) !== owner) continue;
      owned++;
      if (isSpent) ownReplaceable ??= member;
      else if ((lessee.idle?.since ?? now) <= now - GIVEN_UP_MS) left ??= lessee;
    }
    const mayHaveMore = owned < this.#options.perOwner;
    if (mayHaveMore && free !== undefined) return free;
    if (mayHaveMore && this.#members.size < this.#options.size) return this.#make(offer, kind);
    const replaced = mayHaveMore ? replaceable : ownReplaceable;
    if (replaced !== undefined) {
      this.#drop(replaced);
      return this.#make(offer, kind);
    }
    // The session that it leaves becomes free a while later.
    left?.idle?.end(new Fault("unavailable", "the session made room for another of its client", { data: { reason: "idle" } }));
    return undefined;
  }

  #make(offer: JsonObject, kind: string): Member {
    const member: Member = {
      name: `pool ${++this.#made}`,
      offer,
      kind,
      // The last user keeps it even after it has left: late messages must not go to the next one.
      fanIn: { owner: () => member.lessee },
      lessee: undefined,
      calls: 0,
      freeAt: 0,
      timer: undefined,
      unhook: noop,
    };
    this.#members.add(member);
    return member;
  }

  #wait(caller: PoolCaller, gone: Cancel): Promise<Member> {
    return new Promise((go, reject) => {
      const waiter = { caller, go };
      this.#waiting.add(waiter);
      this.#looking ??= setInterval(() => this.#serve(), LOOK_MS);
      gone.on(() => {
        this.#waiting.delete(waiter);
        reject(gone.reason);
      });
    });
  }

  #release(member: Member): void {
    if (--member.calls > 0) return;
    member.freeAt = Date.now() + GIVEN_UP_MS;
    member.timer = setTimeout(() => this.#free(member), GIVEN_UP_MS);
    unref(member.timer);
    member.unhook = member.lessee?.ended.on(() => this.#serve()) ?? noop;
    this.#serve();
  }

  #free(member: Member): void {
    this.#serve();
    if (member.calls > 0) return;
    member.timer = setTimeout(() => this.#drop(member), timerMs(this.#options.unusedMs ?? UNUSED_MS));
    unref(member.timer);
  }

  #drop(member: Member): void {
    unwatch(member);
    if (this.#members.delete(member)) this.#options.close(member);
  }

  #rest(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** Gives free members to waiting callers. */
  #serve(): void {
    for (const waiter of this.#waiting) {
      const member = this.#claim(waiter.caller);
      if (member === undefined) continue;
      this.#waiting.delete(waiter);
      waiter.go(member);
    }
    if (this.#waiting.size === 0) this.#rest();
  }
}

/** Cancels what was scheduled after its last lease. */
function unwatch({ timer, unhook }: Member): void {
  clearTimeout(timer);
  unhook();
}
