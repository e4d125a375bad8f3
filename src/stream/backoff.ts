const FIRST_MS = 50;
const LONGEST_MS = 10_000;

/** When to try again: soon, then after ever longer waits, each a little random so that clients do not come all at once. */
export class Backoff<Reason> {
  #failures = 0;
  #at = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Why the last attempt failed. */
  fault: Reason | undefined;

  /** Milliseconds until the next attempt may be made. */
  get wait(): number {
    return this.#at === 0 ? 0 : Math.max(0, this.#at - Date.now());
  }

  failed(fault: Reason): void {
    this.fault = fault;
    const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(this.#failures++, 20));
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
    }, this.wait);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
