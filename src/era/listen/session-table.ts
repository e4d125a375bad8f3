import {
  defaultTimeouts,
  Fault,
  fixedTimeouts,
  type IdleCaller,
  type LimitName,
  Owned,
  optionLimits,
  principalShares,
  type SharedLimit,
} from "../../core/index.js";
import { unref } from "../../stream/index.js";
import { randomToken } from "../seal.js";

/** The options of a listener about its sessions. */
export interface SessionLimits {
  /** Sessions at the same time; 100,000 unless given. */
  readonly maxSessions?: number | undefined;
  /**
   * Sessions of one principal at the same time; a quarter of `maxSessions` unless given. Callers without a principal count by remote
   * address. At the limit, the owner's oldest session that has been idle for a minute ends; if there is none, the new one is refused.
   */
  readonly maxSessionsPerPrincipal?: number | undefined;
  /** Milliseconds after which a session with nothing open ends; half an hour unless given. */
  readonly idleMs?: number | undefined;
  /**
   * Milliseconds after which a legacy HTTP session ends if its client had a stream open, closed it and has sent nothing since: most clients
   * leave without a DELETE. 5 minutes unless given, and never later than `idleMs`.
   */
  readonly leftMs?: number | undefined;
}

export interface SessionTableOptions extends SessionLimits {
  /** The name of the limit; `maxSessions` unless given. */
  readonly limit?: SharedLimit;
  /** Milliseconds that an idle session is kept when another needs its place; a minute unless given. */
  readonly spareMs?: number;
  /** Whether an idle session holds nothing that its client would miss, so that it may make room for any other. */
  readonly replaceable?: boolean;
}

/** A session, as the table of its listener sees it. */
export interface TableSession {
  readonly id: string;
  /** The principal that it is bound to. */
  readonly principal?: string | undefined;
  /** When it was last used. The table updates it while its client is connected. */
  touched: number;
  /** Whether its client has a connection open for it. Then it does not end for being idle. */
  readonly connected: boolean;
  /**
   * Since when nothing has been open for it, in epoch milliseconds. Undefined while something is: then it does not make room for another.
   */
  readonly idleSince: number | undefined;
  /** Whether its client seems to have left. */
  readonly left?: boolean;
  end(reason: Fault): void;
  /** Called after it has ended to make room for another. */
  displaced?(reason: Fault): void;
}

const SWEEP_MS = 15_000;
const MOST_LOOKED = 16;

/** The sessions of a listener, each bound to the principal that began it, with ids that nobody can guess. */
export class SessionTable<S extends TableSession> {
  readonly #options: SessionTableOptions;
  readonly #max: number;
  readonly #maxEach: number;
  readonly #idleMs: number;
  readonly #leftMs: number;
  readonly #spareMs: number;
  /** For each owner the least recently used comes first. In total too, where any may make room. */
  readonly #sessions = new Map<string, { readonly session: S; readonly owner: string }>();
  readonly #owned = new Owned<S>();
  /** Runs while there are sessions. */
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: SessionTableOptions = {}) {
    this.#options = options;
    this.#max = options.maxSessions ?? optionLimits.maxSessions;
    this.#maxEach = options.maxSessionsPerPrincipal ?? Math.ceil(this.#max * principalShares[options.limit ?? "maxSessions"]);
    this.#idleMs = options.idleMs ?? defaultTimeouts.idleMs;
    this.#leftMs = Math.min(options.leftMs ?? defaultTimeouts.leftMs, this.#idleMs);
    this.#spareMs = options.spareMs ?? fixedTimeouts.spareMs;
  }

  get size(): number {
    return this.#sessions.size;
  }

  *[Symbol.iterator](): IterableIterator<S> {
    for (const { session } of this.#sessions.values()) yield session;
  }

  /** Makes a session that counts for `owner`. Throws `overload` with the name of the limit if there is no room. */
  begin(owner: string, make: (id: string) => S): S {
    const { limit = "maxSessions" } = this.#options;
    if (this.#sessions.size >= this.#max && !this.#makeRoom(owner)) throw tooMany(limit, this.#max);
    if (this.#owned.of(owner).size >= this.#maxEach && !this.#endIdle(this.#owned.of(owner)))
      throw tooMany(`${limit}PerPrincipal`, this.#maxEach);
    const session = make(randomToken());
    this.#sessions.set(session.id, { session, owner });
    this.#owned.add(owner, session);
    this.#arm();
    return session;
  }

  /**
   * When there will be room for a session of `owner`, in epoch milliseconds: in the past if there is room now, undefined if it is not
   * known.
   */
  roomAt(owner: string): number | undefined {
    const own = this.#owned.of(owner);
    if (this.#sessions.size < this.#max && own.size < this.#maxEach) return 0;
    let looked = 0;
    let first: number | undefined;
    for (const { idleSince } of own) {
      if (idleSince !== undefined) first = Math.min(first ?? idleSince, idleSince);
      if (idleSince !== undefined && ++looked === MOST_LOOKED) break;
    }
    return first === undefined ? undefined : first + this.#spareMs;
  }

  /** The session with that id, if it belongs to the caller. Nobody learns whether another's session exists. */
  find(id: string, principal: string | undefined): S | undefined {
    const found = this.#sessions.get(id);
    if (found === undefined || found.session.principal !== principal) return undefined;
    const { session, owner } = found;
    if (this.#options.replaceable === true) {
      this.#sessions.delete(id);
      this.#sessions.set(id, found);
    }
    this.#owned.touch(owner, session);
    return session;
  }

  /** Removes a session and ends it. */
  end(session: S, reason: Fault): void {
    const found = this.#sessions.get(session.id);
    if (found?.session === session) {
      this.#sessions.delete(session.id);
      this.#owned.delete(found.owner, session);
    }
    session.end(reason);
  }

  close(reason: Fault): void {
    for (const session of this) this.end(session, reason);
    this.#disarm();
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#sweep(), Math.min(SWEEP_MS, this.#idleMs, this.#leftMs));
    // In a browser a timer is a number.
    unref(this.#timer);
  }

  #disarm(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #makeRoom(owner: string): boolean {
    return this.#endIdle(this.#owned.of(owner)) || (this.#options.replaceable === true && this.#endIdle(this));
  }

  /** Ends the session that has been idle for longest, if it has been idle long enough. */
  #endIdle(sessions: Iterable<S>): boolean {
    const spared = Date.now() - this.#spareMs;
    let looked = 0;
    for (const session of sessions) {
      const { idleSince } = session;
      if (idleSince === undefined) continue;
      // Later ones were used more recently, or nearly so. A caller that asks for too much must not make this search all of them.
      if (idleSince > spared && ++looked === MOST_LOOKED) return false;
      if (idleSince > spared) continue;
      const reason = new Fault("unavailable", "the session made room for another of its client", { data: { reason: "idle" } });
      this.end(session, reason);
      session.displaced?.(reason);
      return true;
    }
    return false;
  }

  #sweep(): void {
    const now = Date.now();
    for (const session of this) {
      if (session.connected) session.touched = now;
      else if (session.touched <= now - (session.left === true ? this.#leftMs : this.#idleMs))
        this.end(session, new Fault("unavailable", "the session was idle for too long", { data: { reason: "idle" } }));
    }
    if (this.#sessions.size === 0) this.#disarm();
  }
}

/** The client of a session as a caller that may have left silently. `end` ends the session. */
export function idleCaller(session: Pick<TableSession, "idleSince">, end: (reason: Fault) => void): IdleCaller {
  return {
    get since() {
      return session.idleSince;
    },
    end,
  };
}

function tooMany(limit: LimitName, max: number): Fault {
  return new Fault("overload", `too many sessions: ${limit} is ${max}`, { data: { limit, max } });
}
