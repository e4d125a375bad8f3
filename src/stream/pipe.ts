import { Fifo } from "./fifo.js";
import type { Iteration } from "./iteration.js";

export interface PipeOptions<T> {
  /** Values that may wait; 1024 unless given. */
  readonly items?: number;
  /** The most that the `size` of all waiting values may add up to. Needs `size`. */
  readonly bytes?: number;
  readonly size?: (value: T) => number;
}

/** A bounded queue between producers and one reader, which makes one next() at a time. */
export interface Pipe<T> extends Iteration<T> {
  /**
   * Resolves with `true` once the value was taken. Writers wait in order for room; a value above the whole byte limit waits for an empty
   * pipe. Resolves with `false` if it was not taken, because the pipe is closed, failed or abandoned.
   */
  write(value: T): Promise<boolean>;
  /** Takes the value if that needs no waiting. */
  offer(value: T): boolean;
  /** Ends the stream after the values that were taken. Only the first close or fail has an effect. */
  close(): void;
  /**
   * Ends the stream with `reason`, thrown once, after the values that were taken. With `now` those are dropped, even after an earlier
   * close.
   */
  fail(reason: unknown, options?: { readonly now?: boolean }): void;
  next(): Promise<IteratorResult<T, undefined>>;
  /** Abandons the pipe: a pending next() ends, waiting values are dropped, and the producers are told. */
  return(): Promise<IteratorResult<T, undefined>>;
  [Symbol.asyncIterator](): Pipe<T>;
  /** Calls `listener` if the reader leaves before the end, at once if it has left already. The returned function stops listening. */
  onAbandon(listener: () => void): () => void;
  /** Values that wait for the reader. */
  readonly length: number;
  /** Their total `size`. */
  readonly bytes: number;
}

export function pipe<T>(options: PipeOptions<T> = {}): Pipe<T> {
  return new BoundedPipe(options);
}

type Done = { readonly done: true; readonly value: undefined };
type State =
  | { readonly tag: "open" }
  | { readonly tag: "ending"; readonly failure?: { readonly reason: unknown } }
  | { readonly tag: "ended" }
  | { readonly tag: "abandoned" };
interface WaitingWriter<T> {
  readonly value: T;
  readonly size: number;
  readonly resolve: (taken: boolean) => void;
}
interface WaitingReader<T> {
  readonly resolve: (step: IteratorResult<T, undefined>) => void;
  readonly reject: (reason: unknown) => void;
}

const DONE: Done = { done: true, value: undefined };
const done: Promise<Done> = Promise.resolve(DONE);
const taken: Promise<boolean> = Promise.resolve(true);
const refused: Promise<boolean> = Promise.resolve(false);
const noop = (): void => {};

class BoundedPipe<T> implements Pipe<T> {
  readonly #maxItems: number;
  readonly #maxBytes: number;
  readonly #size: ((value: T) => number) | undefined;
  readonly #values = new Fifo<T>();
  /** Measured when each value was taken: a value that changes later must not unbalance the sum. */
  readonly #sizes = new Fifo<number>();
  readonly #writers = new Fifo<WaitingWriter<T>>();
  #bytes = 0;
  #reader: WaitingReader<T> | undefined;
  #state: State = { tag: "open" };
  #listeners: Set<() => void> | undefined;

  constructor({ items = 1024, bytes, size }: PipeOptions<T>) {
    if (!(items >= 1)) throw new RangeError("a pipe holds at least one item");
    if (bytes !== undefined && size === undefined) throw new TypeError("a limit in bytes needs a size");
    this.#maxItems = items;
    this.#maxBytes = bytes ?? Number.POSITIVE_INFINITY;
    this.#size = size;
  }

  get length(): number {
    return this.#values.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  write(value: T): Promise<boolean> {
    if (this.#state.tag !== "open") return refused;
    if (this.#hand(value)) return taken;
    const size = this.#measure(value);
    if (this.#writers.length === 0 && this.#enqueue(value, size)) return taken;
    return new Promise((resolve) => this.#writers.push({ value, size, resolve }));
  }

  offer(value: T): boolean {
    if (this.#state.tag !== "open") return false;
    return this.#hand(value) || (this.#writers.length === 0 && this.#enqueue(value, this.#measure(value)));
  }

  close(): void {
    this.#end({ tag: "ending" });
  }

  fail(reason: unknown, options: { readonly now?: boolean } = {}): void {
    const state: State = { tag: "ending", failure: { reason } };
    if (options.now === true && (this.#state.tag === "open" || this.#state.tag === "ending")) {
      this.#drop();
      this.#state = { tag: "open" };
    }
    this.#end(state);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#values.length > 0) {
      const value = this.#values.shift() as T;
      if (this.#size !== undefined) this.#bytes -= this.#sizes.shift() ?? 0;
      this.#admit();
      return Promise.resolve({ done: false, value });
    }
    const state = this.#state;
    if (state.tag === "open") {
      if (this.#reader !== undefined) return Promise.reject(new TypeError("a pipe has one reader, who makes one next() at a time"));
      return new Promise((resolve, reject) => {
        this.#reader = { resolve, reject };
      });
    }
    if (state.tag !== "ending") return done;
    this.#finish();
    return state.failure === undefined ? done : Promise.reject(state.failure.reason);
  }

  return(): Promise<IteratorResult<T, undefined>> {
    if (this.#state.tag === "ended" || this.#state.tag === "abandoned") return done;
    this.#state = { tag: "abandoned" };
    this.#drop();
    this.#refuseWriters();
    this.#takeReader()?.resolve(DONE);
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) tell(listener);
    return done;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  onAbandon(listener: () => void): () => void {
    if (this.#state.tag === "abandoned") tell(listener);
    if (this.#state.tag === "abandoned" || this.#state.tag === "ended") return noop;
    const listeners = (this.#listeners ??= new Set());
    // A wrapper, so that the same function may listen twice.
    const entry = (): void => listener();
    listeners.add(entry);
    return () => void listeners.delete(entry);
  }

  /** Gives the value to a waiting reader directly. The queue is empty then, and no writer waits. */
  #hand(value: T): boolean {
    const reader = this.#takeReader();
    if (reader === undefined) return false;
    reader.resolve({ done: false, value });
    return true;
  }

  #enqueue(value: T, size: number): boolean {
    const waiting = this.#values.length;
    if (waiting >= this.#maxItems || (waiting > 0 && this.#bytes + size > this.#maxBytes)) return false;
    this.#values.push(value);
    if (this.#size !== undefined) this.#sizes.push(size);
    this.#bytes += size;
    return true;
  }

  #measure(value: T): number {
    return this.#size === undefined ? 0 : this.#size(value);
  }

  /** Lets waiting writers in, in order, as long as there is room. */
  #admit(): void {
    for (let writer = this.#writers.peek(); writer !== undefined; writer = this.#writers.peek()) {
      if (!this.#enqueue(writer.value, writer.size)) return;
      this.#writers.shift();
      writer.resolve(true);
    }
  }

  #end(state: State & { tag: "ending" }): void {
    if (this.#state.tag !== "open") return;
    this.#state = state;
    this.#refuseWriters();
    const reader = this.#takeReader();
    if (reader === undefined) return;
    this.#finish();
    if (state.failure === undefined) reader.resolve(DONE);
    else reader.reject(state.failure.reason);
  }

  #finish(): void {
    this.#state = { tag: "ended" };
    this.#listeners = undefined;
  }

  #drop(): void {
    this.#values.clear();
    this.#sizes.clear();
    this.#bytes = 0;
  }

  #refuseWriters(): void {
    for (let writer = this.#writers.shift(); writer !== undefined; writer = this.#writers.shift()) writer.resolve(false);
  }

  #takeReader(): WaitingReader<T> | undefined {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}

/** Calls one listener. If it throws, the others are still called. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
