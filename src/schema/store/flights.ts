import { Fault } from "../../core/index.js";

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/** Shares requests that are already running. A request is aborted when nobody waits for it any more. */
export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>();

  run(key: string, signal: AbortSignal | undefined, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (signal?.aborted === true) return Promise.reject(cancelled());
    const flight = this.#flights.get(key) ?? this.#start(key, start);
    flight.waiting++;
    return new Promise<T>((resolve, reject) => {
      let left = false;
      const leave = (): void => {
        if (left) return;
        left = true;
        signal?.removeEventListener("abort", onAbort);
        if (--flight.waiting === 0) flight.controller.abort();
      };
      const onAbort = (): void => {
        leave();
        if (flight.waiting === 0 && this.#flights.get(key) === flight) this.#flights.delete(key);
        reject(cancelled());
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      flight.result.then(resolve, reject).finally(leave);
    });
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const done = (): void => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    const result = start(controller.signal).finally(done);
    const flight: Flight<T> = { result, controller, waiting: 0 };
    this.#flights.set(key, flight);
    return flight;
  }
}

export function cancelled(): Fault {
  return new Fault("cancelled", "the schema is not waited for any more");
}
