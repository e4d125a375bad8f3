import { type Cancel, Canceller, defaultLimits, defaultTimeouts, Fault, type Lease } from "../core/index.js";
import { timerMs } from "../stream/index.js";

/** The part of the waiting callers that one principal or remote address may have. */
const OWNER_SHARE = 1 / 2;

/** Callers that wait for a session with the server. Their number is limited in total and for each owner, and their time is limited. */
export class Waiting {
  readonly #ms: number;
  readonly #max: number;
  /** How many wait, by owner. */
  readonly #owners = new Map<string, number>();
  #size = 0;

  constructor(ms: number = defaultTimeouts.waitMs, max: number = defaultLimits.inFlight) {
    this.#ms = ms;
    this.#max = max;
  }

  /**
   * Returns the lease, if it comes in time. The `gone` of `opening` fires when nobody waits any more; a lease that comes late is released.
   */
  async lease(owner: string, cancel: Cancel, opening: (gone: Cancel) => Promise<Lease>): Promise<Lease> {
    const own = this.#owners.get(owner) ?? 0;
    const share = Math.ceil(this.#max * OWNER_SHARE);
    if (this.#size >= this.#max) throw tooMany(this.#max);
    if (own >= share) throw tooMany(share);
    this.#size++;
    this.#owners.set(owner, own + 1);
    const gone = new Canceller();
    const timer = setTimeout(() => gone.fire(tooLate(this.#ms)), timerMs(this.#ms));
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
      const left = (this.#owners.get(owner) ?? 1) - 1;
      if (left > 0) this.#owners.set(owner, left);
      else this.#owners.delete(owner);
    }
  }
}

function tooMany(max: number): Fault {
  return new Fault("overload", "too many calls wait for the server", { data: { limit: "inFlight", max } });
}

function tooLate(ms: number): Fault {
  return new Fault("unavailable", `there was no session with the server within ${ms} ms`, { data: { reason: "waiting" } });
}
