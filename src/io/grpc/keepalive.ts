import { defaultTimeouts } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import type { Keepalive } from "./types.js";

export const defaultKeepalive: Keepalive = { intervalMs: defaultTimeouts.pingMs, timeoutMs: defaultTimeouts.timeoutMs };

/** A connection that can ping its peer. */
export interface Pinged {
  readonly destroyed: boolean;
  ping(done: (error: Error | null) => void): unknown;
}

/** Watches a connection while it has calls: pings a silent peer, and gives it up if no answer comes. */
export class Watch {
  readonly #session: Pinged;
  readonly #options: Keepalive;
  readonly #onLost: () => void;
  #calls = 0;
  #timer: NodeJS.Timeout | undefined;
  #timeout: NodeJS.Timeout | undefined;

  constructor(session: Pinged, options: Keepalive, onLost: () => void) {
    this.#session = session;
    this.#options = options;
    this.#onLost = onLost;
  }

  get calls(): number {
    return this.#calls;
  }

  add(): void {
    this.#calls++;
    if (this.#timer !== undefined || this.#options.intervalMs === Number.POSITIVE_INFINITY) return;
    this.#timer = setInterval(this.#ask, timerMs(this.#options.intervalMs));
    this.#timer.unref();
  }

  remove(): void {
    this.#calls--;
  }

  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#timeout);
    this.#timer = this.#timeout = undefined;
  }

  readonly #ask = (): void => {
    if (this.#calls === 0) {
      this.stop();
      return;
    }
    if (this.#timeout !== undefined || this.#session.destroyed) return;
    this.#timeout = setTimeout(this.#onLost, timerMs(this.#options.timeoutMs));
    this.#timeout.unref();
    this.#session.ping(this.#answered);
  };

  readonly #answered = (error: Error | null): void => {
    if (error !== null) return;
    clearTimeout(this.#timeout);
    this.#timeout = undefined;
  };
}
