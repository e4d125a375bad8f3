import { defaultTimeouts } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import { signsOfLife } from "../socket/signs-of-life.js";
import type { Keepalive } from "./types.js";

export const defaultKeepalive: Keepalive = { intervalMs: defaultTimeouts.pingMs, timeoutMs: defaultTimeouts.timeoutMs };

/** A connection that can ping its peer. */
export interface Pinged {
  readonly destroyed: boolean;
  readonly socket: object | undefined;
  ping(done: (error: Error | null) => void): unknown;
}

/** Watches a connection while it has calls: pings the peer, and gives it up if it shows no sign of life after that. */
export class Watch {
  readonly #session: Pinged;
  readonly #options: Keepalive;
  readonly #onLost: () => void;
  readonly #alive: () => boolean;
  #calls = 0;
  #timer: NodeJS.Timeout | undefined;
  #timeout: NodeJS.Timeout | undefined;

  constructor(session: Pinged, options: Keepalive, onLost: () => void) {
    this.#session = session;
    this.#options = options;
    this.#onLost = onLost;
    this.#alive = signsOfLife(() => session.socket);
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
    this.#alive();
    this.#wait();
    this.#session.ping(this.#answered);
  };

  #wait(): void {
    this.#timeout = setTimeout(this.#late, timerMs(this.#options.timeoutMs));
    this.#timeout.unref();
  }

  /** Large messages may be under way before the PING or its answer. */
  readonly #late = (): void => {
    if (this.#alive()) this.#wait();
    else this.#onLost();
  };

  readonly #answered = (error: Error | null): void => {
    if (error !== null) return;
    clearTimeout(this.#timeout);
    this.#timeout = undefined;
  };
}
