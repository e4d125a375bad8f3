import { type Cancel, Canceller, defaultLimits, defaultTimeouts, Fault, type Lease } from "../core/index.js";

/** Callers that wait for a session with the server, bounded in number and in time. */
export class Waiting {
  readonly #ms: number;
  readonly #max: number;
  #size = 0;

  constructor(ms: number = defaultTimeouts.waitMs, max: number = defaultLimits.inFlight) {
    this.#ms = ms;
    this.#max = max;
  }

  /** The lease, if it comes in time. `opening` hears when nobody waits for it any more; one that comes late is given back. */
  async lease(cancel: Cancel, opening: (gone: Cancel) => Promise<Lease>): Promise<Lease> {
    if (this.#size >= this.#max)
      throw new Fault("overload", "too many calls wait for the server", { data: { limit: "inFlight", max: this.#max } });
    this.#size++;
    const gone = new Canceller();
    const timer = setTimeout(() => gone.fire(tooLate(this.#ms)), this.#ms);
    const unhook = cancel.on(() => gone.fire(cancel.reason));
    const opened = opening(gone);
    const left = new Promise<never>((_resolve, reject) => gone.on(() => reject(gone.reason)));
    try {
      return await Promise.race([opened, left]);
    } catch (error) {
      opened.then(
        (lease) => lease.release(),
        () => {},
      );
      throw error;
    } finally {
      clearTimeout(timer);
      unhook();
      this.#size--;
    }
  }
}

function tooLate(ms: number): Fault {
  return new Fault("unavailable", `there was no session with the server within ${ms} ms`, { data: { reason: "waiting" } });
}
