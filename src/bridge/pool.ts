import { type Cancel, type FanIn, Fault, type Identity, type Lease, quotaOwner } from "../core/index.js";
import { GIVEN_UP_MS } from "../era/index.js";
import { unref } from "../stream/index.js";

/** Milliseconds that a member which nobody uses is kept. */
const UNUSED_MS = 60_000;
/** Milliseconds after which it is looked again whether a client has left for which others wait. */
const LOOK_MS = 1000;

export interface PoolOptions {
  /** Members at most. */
  readonly size: number;
  /** Of these, those that one owner may have at a time. */
  readonly perOwner: number;
  readonly unusedMs?: number | undefined;
  /** Opens the session of a member, or finds it open. */
  open(member: PoolMember): Promise<Lease>;
  /** Closes the session of a member. */
  close(member: PoolMember): void;
}

export interface PoolMember {
  readonly name: string;
  /** All that its server says without naming a call is for whoever has it, or had it last. */
  readonly fanIn: FanIn;
}

interface Waiter {
  readonly identity: Identity;
  go(member: Member): void;
}

interface Member extends PoolMember {
  lessee: Identity | undefined;
  calls: number;
  /** When another may have it. */
  freeAt: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * Sessions that are lent to one caller at a time: for as long as it has a call open, and for a while after that, since a server may
 * still speak of the last one. Who finds none free waits.
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

  /** A session for one call of a caller, which stops waiting when `gone` fires. */
  async lease(identity: Identity, gone: Cancel): Promise<Lease> {
    const member = this.#claim(identity) ?? (await this.#wait(identity, gone));
    let lease: Lease;
    try {
      lease = await this.#options.open(member);
    } catch (error) {
      // It has said nothing that could be of this caller.
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
  has(identity: Identity): boolean {
    return [...this.#members].some(({ lessee }) => lessee === identity);
  }

  close(): void {
    this.#rest();
    for (const { timer } of this.#members) clearTimeout(timer);
    this.#members.clear();
  }

  /** A member that the caller may have now, and from now on has. */
  #claim(identity: Identity): Member | undefined {
    const member = this.#found(identity);
    if (member === undefined) return undefined;
    member.lessee = identity;
    member.calls++;
    clearTimeout(member.timer);
    return member;
  }

  #found(identity: Identity): Member | undefined {
    const now = Date.now();
    const owner = quotaOwner(identity, identity.key);
    let free: Member | undefined;
    let owned = 0;
    let left: Identity | undefined;
    for (const member of this.#members) {
      if (member.lessee === identity) return member;
      if (member.calls === 0 && member.freeAt <= now) free ??= member;
      else if (member.lessee !== undefined && quotaOwner(member.lessee, member.lessee.key) === owner) {
        owned++;
        if ((member.lessee.idle?.since ?? now) <= now - GIVEN_UP_MS) left ??= member.lessee;
      }
    }
    if (owned < this.#options.perOwner) {
      if (free !== undefined) return free;
      if (this.#members.size < this.#options.size) return this.#make();
    }
    // What it leaves is free a while later.
    left?.idle?.end(new Fault("unavailable", "the session made room for another of its client", { data: { reason: "idle" } }));
    return undefined;
  }

  #make(): Member {
    const member: Member = {
      name: `pool ${++this.#made}`,
      // The last one keeps it, also when it has gone: what comes late must not be taken for the next one's.
      fanIn: { owner: () => member.lessee },
      lessee: undefined,
      calls: 0,
      freeAt: 0,
      timer: undefined,
    };
    this.#members.add(member);
    return member;
  }

  #wait(identity: Identity, gone: Cancel): Promise<Member> {
    return new Promise((go, reject) => {
      const waiter = { identity, go };
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
    this.#serve();
  }

  #free(member: Member): void {
    this.#serve();
    if (member.calls > 0) return;
    member.timer = setTimeout(() => this.#drop(member), this.#options.unusedMs ?? UNUSED_MS);
    unref(member.timer);
  }

  #drop(member: Member): void {
    if (this.#members.delete(member)) this.#options.close(member);
  }

  #rest(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** Lets those have a member who wait for one. */
  #serve(): void {
    for (const waiter of this.#waiting) {
      const member = this.#claim(waiter.identity);
      if (member === undefined) continue;
      this.#waiting.delete(waiter);
      waiter.go(member);
    }
    if (this.#waiting.size === 0) this.#rest();
  }
}
