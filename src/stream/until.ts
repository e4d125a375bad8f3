import { abandon } from "./abandon.js";
import type { IterationStep } from "./index.js";
import type { Iteration } from "./iteration.js";

const DONE = { done: true, value: undefined } as const;

/**
 * The source until the signal aborts. Then it ends without an error, even during a pending next(), and the source is returned without
 * waiting for it. The signal is listened to from the first next() to the end.
 */
export function until<T>(source: AsyncIterable<T>, signal: AbortSignal): Iteration<T> {
  return new Until(source, signal);
}

type State<T> =
  | { readonly tag: "idle"; readonly source: AsyncIterable<T> }
  | { readonly tag: "running"; readonly steps: AsyncIterator<T> }
  | { readonly tag: "ended" };

class Until<T> implements Iteration<T> {
  readonly #signal: AbortSignal;
  #state: State<T>;
  #end: ((step: IterationStep<T>) => void) | undefined;

  constructor(source: AsyncIterable<T>, signal: AbortSignal) {
    this.#state = { tag: "idle", source };
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IterationStep<T>> {
    if (this.#signal.aborted) this.#leave();
    const state = this.#state;
    if (state.tag === "ended") return Promise.resolve(DONE);
    if (this.#end !== undefined) return Promise.reject(new TypeError("until has one reader, who makes one next() at a time"));
    return new Promise((resolve, reject) => {
      this.#end = resolve;
      const fail = (error: unknown): void => {
        if (this.#state.tag === "ended") return;
        this.#finish();
        reject(error);
      };
      try {
        this.#start(state)
          .next()
          .then((step) => {
            if (this.#state.tag === "ended") return;
            this.#end = undefined;
            if (step.done === true) this.#finish();
            resolve(step.done === true ? DONE : step);
          }, fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  return(): Promise<IterationStep<T>> {
    this.#leave();
    return Promise.resolve(DONE);
  }

  #start(state: Exclude<State<T>, { tag: "ended" }>): AsyncIterator<T> {
    if (state.tag === "running") return state.steps;
    const steps = state.source[Symbol.asyncIterator]();
    this.#state = { tag: "running", steps };
    this.#signal.addEventListener("abort", this.#leave, { once: true });
    return steps;
  }

  readonly #leave = (): void => {
    const state = this.#state;
    if (state.tag === "ended") return;
    const end = this.#end;
    this.#finish();
    end?.(DONE);
    abandon(() => (state.tag === "running" ? state.steps : state.source[Symbol.asyncIterator]()));
  };

  #finish(): void {
    this.#state = { tag: "ended" };
    this.#end = undefined;
    this.#signal.removeEventListener("abort", this.#leave);
  }
}
