import { timerMs } from "./timer.js";

const FIRST_MS = 50;
const LONGEST_MS = 10_000;
const SLOW_MS = 60_000;

export interface BackoffOptions {
  /** Milliseconds to wait after the first failure. */
  readonly firstMs?: number | undefined;
  /** The longest wait in milliseconds. */
  readonly longestMs?: number | undefined;
  /** Failures in a row after which it is exhausted. */
  readonly tries?: number | undefined;
  /** Milliseconds to wait after that. */
  readonly slowMs?: number | undefined;
}

/** When to try again: soon, then after ever longer waits. Each is a little random, so that clients do not all come at once. */
export class Backoff<Reason> {
  #failures = 0;
  #at = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #options: BackoffOptions;
  /** Why the last attempt failed. */
  fault: Reason | undefined;

  constructor(options: BackoffOptions = {}) {
    this.#options = options;
  }

  /** Whether so many attempts in a row have failed that the next is not worth waiting for. */
  get exhausted(): boolean {
    return this.#failures >= (this.#options.tries ?? Number.POSITIVE_INFINITY);
  }

  /** Milliseconds until the next attempt may be made. */
  get wait(): number {
    return this.#at === 0 ? 0 : Math.max(0, this.#at - Date.now());
  }

  failed(fault: Reason): void {
    this.fault = fault;
    const { firstMs = FIRST_MS, longestMs = LONGEST_MS, slowMs = SLOW_MS } = this.#options;
    const growing = Math.min(longestMs, firstMs * 2 ** Math.min(this.#failures++, 20));
    const ms = this.exhausted ? slowMs : growing;
    this.#at = Date.now() + ms * (0.75 + Math.random() / 2);
  }

  reset(): void {
    this.#failures = 0;
    this.#at = 0;
    this.fault = undefined;
  }

  /** Runs once when the wait is over. */
  after(run: () => void): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      run();
    }, timerMs(this.wait));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
