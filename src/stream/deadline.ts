import { timerMs } from "./timer.js";

/** A signal that aborts with its parent or when its time is up, until it is disposed. */
export interface Deadline extends Disposable {
  /** Aborts with the parent's reason, or with a `TimeoutError`. */
  readonly signal: AbortSignal;
  /** Whether the time ran out. */
  readonly expired: boolean;
}

/** `using scope = deadline(signal, ms)`: leaving the scope clears the timer and unhooks the parent. Infinity sets no timer. */
export function deadline(parent: AbortSignal | undefined, ms: number): Deadline {
  return new Scope(parent, ms);
}

class Scope implements Deadline {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  expired = false;

  constructor(parent: AbortSignal | undefined, ms: number) {
    this.#parent = parent;
    if (parent?.aborted === true) {
      this.#controller.abort(parent.reason);
      return;
    }
    parent?.addEventListener("abort", this.#follow);
    if (ms < Number.POSITIVE_INFINITY) this.#arm(ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#parent?.removeEventListener("abort", this.#follow);
  }

  #arm(ms: number): void {
    if (ms <= 0) {
      this[Symbol.dispose]();
      this.expired = true;
      this.#controller.abort(new DOMException("the deadline passed", "TimeoutError"));
      return;
    }
    const wait = timerMs(ms);
    this.#timer = setTimeout(() => this.#arm(ms - wait), wait);
  }

  readonly #follow = (): void => {
    this[Symbol.dispose]();
    this.#controller.abort(this.#parent?.reason);
  };
}
