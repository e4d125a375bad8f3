import { abandon } from "./abandon.js";
import { Fifo } from "./fifo.js";
import type { IterationStep } from "./index.js";
import type { Iteration } from "./iteration.js";

interface Source<T> {
  readonly steps: AsyncIterator<T>;
}
type Arrival<T> = { readonly source: Source<T>; readonly value: T } | { readonly error: unknown };

const DONE = { done: true, value: undefined } as const;

/**
 * Merges streams, in the order in which values arrive. Each source has one next() pending, so at most one value of each waits. The first
 * error is thrown after the values before it, and ends every other source. Leaving does so too, at once, without waiting for them: a
 * generator that is inside its next() would hold the reader.
 */
export function merge<T>(...sources: readonly AsyncIterable<T>[]): Iteration<T> {
  return new Merged(sources);
}

class Merged<T> implements Iteration<T> {
  readonly #iterables: readonly AsyncIterable<T>[];
  #live: Set<Source<T>> | undefined;
  readonly #arrived = new Fifo<Arrival<T>>();
  #reader: { readonly resolve: (step: IterationStep<T>) => void; readonly reject: (reason: unknown) => void } | undefined;

  constructor(iterables: readonly AsyncIterable<T>[]) {
    this.#iterables = iterables;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IterationStep<T>> {
    if (this.#reader !== undefined) return Promise.reject(new TypeError("merge has one reader, who makes one next() at a time"));
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      if (this.#live === undefined) for (const source of [...this.#open()]) this.#pull(source);
      this.#deliver();
    });
  }

  return(): Promise<IterationStep<T>> {
    this.#leave(this.#live ?? this.#open());
    this.#arrived.clear();
    this.#deliver();
    return Promise.resolve(DONE);
  }

  #open(): ReadonlySet<Source<T>> {
    const live = (this.#live = new Set<Source<T>>());
    try {
      for (const iterable of this.#iterables) live.add({ steps: iterable[Symbol.asyncIterator]() });
    } catch (error) {
      this.#fail(error);
    }
    return this.#live;
  }

  #pull(source: Source<T>): void {
    if (this.#live?.has(source) !== true) return;
    try {
      source.steps.next().then(
        (step) => {
          if (this.#live?.has(source) !== true) return;
          if (step.done === true) this.#live.delete(source);
          else this.#arrived.push({ source, value: step.value });
          this.#deliver();
        },
        (error) => this.#fail(error, source),
      );
    } catch (error) {
      this.#fail(error, source);
    }
  }

  /** Gives the reader the first value. Its source continues only now. */
  #deliver(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    const arrival = this.#arrived.shift();
    if (arrival === undefined) {
      if (this.#live?.size !== 0) return;
      this.#reader = undefined;
      reader.resolve(DONE);
      return;
    }
    this.#reader = undefined;
    if ("error" in arrival) {
      reader.reject(arrival.error);
      return;
    }
    reader.resolve({ done: false, value: arrival.value });
    this.#pull(arrival.source);
  }

  #fail(error: unknown, source?: Source<T>): void {
    if (source !== undefined && this.#live?.delete(source) !== true) return;
    this.#arrived.push({ error });
    this.#leave(this.#live ?? []);
    this.#deliver();
  }

  #leave(sources: Iterable<Source<T>>): void {
    const leaving = [...sources];
    this.#live = new Set();
    for (const source of leaving) abandon(() => source.steps);
  }
}
