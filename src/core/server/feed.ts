import type { JsonObject } from "../json.js";
import type { Reply } from "../service.js";
import type { HandlerStep } from "./run.js";

const finished: HandlerStep = { done: true, value: {} };

/** The steps of a long-lived call: what others push, until it ends. At most `limit` replies wait; beyond that the oldest is dropped. */
export class Feed implements AsyncIterator<Reply, JsonObject, undefined> {
  readonly #limit: number;
  readonly #onLeave: (feed: Feed) => void;
  readonly #waiting = new Map<string | number, Reply>();
  #serial = 0;
  #ended = false;
  #resolve: ((step: HandlerStep) => void) | undefined;

  constructor(limit: number, onLeave: (feed: Feed) => void) {
    this.#limit = limit;
    this.#onLeave = onLeave;
  }

  /** False if an older reply was dropped to make room. If a reply with the same `key` still waits, the two become one. */
  push(reply: Reply, key: string | number = this.#serial++): boolean {
    if (this.#ended) return true;
    if (this.#resolve !== undefined) {
      this.#settle({ done: false, value: reply });
      return true;
    }
    if (this.#waiting.has(key)) return true;
    this.#waiting.set(key, reply);
    if (this.#waiting.size <= this.#limit) return true;
    for (const oldest of this.#waiting.keys()) {
      this.#waiting.delete(oldest);
      break;
    }
    return false;
  }

  /** Ends the feed. Waiting replies are still read, then comes the result. */
  end(): void {
    this.#ended = true;
    if (this.#resolve !== undefined) this.#settle(finished);
    this.#onLeave(this);
  }

  next(): Promise<HandlerStep> {
    for (const [key, value] of this.#waiting) {
      this.#waiting.delete(key);
      return Promise.resolve({ done: false, value });
    }
    if (this.#ended) return Promise.resolve(finished);
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  return(): Promise<HandlerStep> {
    this.#waiting.clear();
    this.end();
    return Promise.resolve(finished);
  }

  #settle(step: HandlerStep): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    resolve?.(step);
  }
}
