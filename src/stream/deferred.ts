/** A promise that somebody else settles. A rejection that nobody handles is ignored. */
export interface Deferred<T = void> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** Makes one. */
export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = ignore;
  let reject: (reason: unknown) => void = ignore;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(ignore);
  return { promise, resolve, reject };
}

/** A rejected promise whose rejection may go unhandled. */
export function rejected(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(ignore);
  return promise;
}

/** Does nothing: handles an event or a rejection that needs no handling. */
export function ignore(): void {}
