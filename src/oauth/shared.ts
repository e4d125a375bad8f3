/** One run that is shared by all who ask for it at the same time. It is aborted when the last of them has left. */
export interface Shared<T> {
  /** The outcome of the current run, or of one that is started now. */
  join(run: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

interface Run<T> {
  readonly promise: Promise<T>;
  readonly abort: AbortController;
  members: number;
}

export function shared<T>(): Shared<T> {
  let current: Run<T> | undefined;
  const start = (run: (signal: AbortSignal) => Promise<T>): Run<T> => {
    const abort = new AbortController();
    const promise = run(abort.signal).finally(() => {
      current = undefined;
    });
    promise.catch(() => {});
    return { promise, abort, members: 0 };
  };
  return {
    join(run, signal) {
      current ??= start(run);
      const mine = current;
      mine.members++;
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          if (--mine.members === 0) mine.abort.abort(signal?.reason);
          reject(signal?.reason);
        };
        if (signal?.aborted === true) return leave();
        signal?.addEventListener("abort", leave, { once: true });
        const stay = (): void => signal?.removeEventListener("abort", leave);
        mine.promise.then(
          (value) => {
            stay();
            resolve(value);
          },
          (error) => {
            stay();
            reject(error);
          },
        );
      });
    },
  };
}
