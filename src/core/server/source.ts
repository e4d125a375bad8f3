import type { Cancel } from "../cancel.js";

/** What a user may pass where a sequence is expected. */
export type Source<T> = Iterable<T> | AsyncIterable<T>;

/** A user's source, pulled one value at a time. Its iterator is returned at once when the call is left, even during a pending next(). */
export interface Pulled<T> {
  next(): Promise<IteratorResult<T, unknown>> | IteratorResult<T, unknown>;
  /** Returns the iterator unless it has ended. Errors in that are ignored. */
  close(): void;
}

export function isSource(value: unknown): value is Source<unknown> {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}

export function pull<T>(source: Source<T>, cancel: Cancel): Pulled<T> {
  const iterator: AsyncIterator<T> | Iterator<T> =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  let open = true;
  const close = (): void => {
    if (!open) return;
    open = false;
    unhook?.();
    try {
      const closing = iterator.return?.();
      if (closing instanceof Promise) closing.catch(() => {});
    } catch {
      // Nobody is left to report this to.
    }
  };
  const ended = (step: IteratorResult<T, unknown>): IteratorResult<T, unknown> => {
    if (step.done === true && open) {
      open = false;
      unhook?.();
    }
    return step;
  };
  const failed = (error: unknown): never => {
    open = false;
    unhook?.();
    throw error;
  };
  let unhook: (() => void) | undefined;
  unhook = cancel.on(close);
  return {
    next: () => {
      try {
        const step = iterator.next();
        return step instanceof Promise ? step.then(ended, failed) : ended(step);
      } catch (error) {
        return failed(error);
      }
    },
    close,
  };
}
