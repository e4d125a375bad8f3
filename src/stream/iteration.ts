/** What `next()` of an iteration gives: a value, or the end. */
export type IterationStep<T> = IteratorResult<T, undefined>;

/** An async iterator that can be looped over and returns nothing. TypeScript's library has no such type before 5.6. */
export interface Iteration<T> extends AsyncIterator<T, undefined> {
  [Symbol.asyncIterator](): Iteration<T>;
}
