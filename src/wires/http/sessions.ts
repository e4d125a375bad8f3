import { Fault, type Service } from "../../core/index.js";
import { randomToken } from "../../era/index.js";
import type { Exchange } from "../../io/index.js";
import type { EventStore } from "./events.js";
import { memoryEvents } from "./events.js";
import type { HttpOptions } from "./options.js";
import { HttpSession } from "./session.js";

const IDLE_MS = 30 * 60_000;
const MAX_SESSIONS = 100_000;

/** The legacy sessions of an endpoint, each bound to the principal that began it. */
export class Sessions {
  readonly #service: Service;
  readonly #options: HttpOptions;
  readonly #events: EventStore;
  readonly #sessions = new Map<string, HttpSession>();

  constructor(service: Service, options: HttpOptions) {
    this.#service = service;
    this.#options = options;
    this.#events = options.events ?? memoryEvents();
  }

  begin(exchange: Exchange, principal: string | undefined): HttpSession | Fault {
    const max = this.#options.maxSessions ?? MAX_SESSIONS;
    if (this.#sessions.size >= max) return new Fault("overload", "too many sessions", { data: { limit: "maxSessions", max } });
    const { limits, onFault, pageSize, observe, wire, awayMs, pollMs } = this.#options;
    const session: HttpSession = new HttpSession(this.#service, {
      limits,
      onFault,
      pageSize,
      observe,
      wire,
      awayMs,
      pollMs,
      // One whose initialize failed never was a session.
      onRefused: () => this.end(session, new Fault("unavailable", "the session did not begin")),
      id: randomToken(),
      events: this.#events,
      metadata: exchange.headers,
      ...(principal === undefined ? undefined : { principal }),
    });
    this.#sessions.set(session.id, session);
    return session;
  }

  /** The session of that name, if it is the caller's: nobody learns whether another's exists. */
  find(id: string, principal: string | undefined): HttpSession | undefined {
    const session = this.#sessions.get(id);
    return session?.principal === principal ? session : undefined;
  }

  end(session: HttpSession, reason: Fault): void {
    this.#sessions.delete(session.id);
    session.close(reason);
  }

  /** Shows that open streams are alive, and ends the sessions that nobody has used for long. */
  sweep(): void {
    const idle = Date.now() - (this.#options.idleMs ?? IDLE_MS);
    for (const session of this.#sessions.values()) {
      session.keepAlive();
      if (session.touched <= idle && !session.connected)
        this.end(session, new Fault("unavailable", "the session was idle for too long", { data: { reason: "idle" } }));
    }
  }

  async drain(reason: Fault, ms: number): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.drain(reason, ms)));
  }

  close(reason: Fault): void {
    for (const session of this.#sessions.values()) this.end(session, reason);
  }
}
