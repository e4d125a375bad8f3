/** An iterator that can be looped over and ends with nothing. The library of TypeScript has no such type before 5.6. */
export interface Iteration<T> extends AsyncIterator<T, undefined> {
  [Symbol.asyncIterator](): Iteration<T>;
}
