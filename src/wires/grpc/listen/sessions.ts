import { Fault } from "../../../core/index.js";
import { randomToken } from "../../../era/index.js";
import type { GrpcListenOptions } from "./options.js";
import type { Session } from "./session.js";

const IDLE_MS = 30 * 60_000;
const MAX_SESSIONS = 100_000;
const SWEEP_MS = 15_000;

/** The sessions of a listener, each bound to the principal that began it. */
export class Sessions {
  readonly #options: GrpcListenOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(options: GrpcListenOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sweep(), Math.min(SWEEP_MS, options.idleMs ?? IDLE_MS));
    this.#timer.unref();
  }

  /** Makes a session under a name that nobody can guess. */
  begin(make: (id: string) => Session): Session {
    const max = this.#options.maxSessions ?? MAX_SESSIONS;
    if (this.#sessions.size >= max) throw new Fault("overload", "too many sessions", { data: { limit: "maxSessions", max } });
    const session = make(randomToken());
    this.#sessions.set(session.id, session);
    return session;
  }

  known(id: string, principal: string | undefined): Session | undefined {
    const session = this.#sessions.get(id);
    return session?.principal === principal ? session : undefined;
  }

  /** The session of that name, if it is the caller's: nobody learns whether another's exists. */
  find(id: string, principal: string | undefined): Session {
    const session = this.known(id, principal);
    if (session !== undefined) return session;
    throw new Fault("not-found", "no such session: call Initialize");
  }

  end(session: Session, reason: Fault): void {
    this.#sessions.delete(session.id);
    session.end(reason);
  }

  async drain(reason: Fault, ms: number): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.drain(reason, ms)));
  }

  close(reason: Fault): void {
    clearInterval(this.#timer);
    for (const session of [...this.#sessions.values()]) this.end(session, reason);
  }

  #sweep(): void {
    const idle = Date.now() - (this.#options.idleMs ?? IDLE_MS);
    for (const session of this.#sessions.values())
      if (session.touched <= idle && !session.busy)
        this.end(session, new Fault("unavailable", "the session was idle for too long", { data: { reason: "idle" } }));
  }
}
