import type { Id } from "../../codec/index.js";
import { type DialOptions, defaultLimits, defaultTimeouts, Fault } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";

interface Waiting<L> {
  readonly call: Id | undefined;
  readonly go: (link: L) => void;
  readonly fail: (fault: Fault) => void;
}

/** What to do with the next link, in order. Limited in number and in time. */
export class WaitingCalls<L> {
  readonly #waiting = new Set<Waiting<L>>();
  readonly #ms: number;
  readonly #most: number;
  readonly #why: () => Fault | undefined;

  /** `why` returns the reason why there is no link yet. */
  constructor({ reconnectMs, limits }: DialOptions, why: () => Fault | undefined) {
    this.#ms = reconnectMs ?? defaultTimeouts.reconnectMs;
    this.#most = limits?.inFlight ?? defaultLimits.inFlight;
    this.#why = why;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** `act` runs as soon as the link is there, so that nothing that is sent later can overtake it. */
  add<T>(call: Id | undefined, act: (link: L) => Promise<T>): Promise<T> {
    if (this.#waiting.size >= this.#most) return Promise.reject(tooMany(this.#most));
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => waiting.fail(notBack(this.#ms, this.#why())), timerMs(this.#ms));
      const leave = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
      };
      const waiting: Waiting<L> = {
        call,
        go(link) {
          leave();
          resolve(act(link));
        },
        fail(fault) {
          leave();
          reject(fault);
        },
      };
      this.#waiting.add(waiting);
    });
  }

  /** The call was given up, so it is not made. */
  leave(call: Id | undefined): void {
    if (call === undefined) return;
    for (const waiting of this.#waiting) if (waiting.call === call) waiting.fail(new Fault("cancelled", "the call was given up"));
  }

  go(link: L): void {
    for (const waiting of [...this.#waiting]) waiting.go(link);
  }

  fail(fault: Fault): void {
    for (const waiting of [...this.#waiting]) waiting.fail(fault);
  }
}

function notBack(ms: number, cause: Fault | undefined): Fault {
  const why = cause === undefined ? "" : `: ${cause.message}`;
  return new Fault("unavailable", `the connection was lost and did not come back within ${ms} ms${why}`, {
    cause,
    data: { reason: "reconnecting" },
  });
}

function tooMany(max: number): Fault {
  return new Fault("overload", "too many calls wait for the connection to come back", { data: { limit: "inFlight", max } });
}
