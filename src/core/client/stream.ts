/** Values as they are pulled, for one reader. Leaving the loop ends the call behind it, even during a pending next(). */
export interface Stream<T> extends AsyncIterable<T>, AsyncDisposable {
  next(): Promise<IteratorResult<T, undefined>>;
  return(): Promise<IteratorResult<T, undefined>>;
  [Symbol.asyncIterator](): Stream<T>;
}

/** A generator that can be left. Its own return() waits for its pending next(), so `leave` has to end what next() waits for. */
export function leavable<T>(steps: AsyncGenerator<T, undefined, undefined>, leave: () => void): Stream<T> {
  const stream: Stream<T> = {
    next: () => steps.next(),
    return: () => {
      leave();
      return steps.return(undefined);
    },
    [Symbol.asyncIterator]: () => stream,
    [Symbol.asyncDispose]: async () => void (await stream.return()),
  };
  return stream;
}
