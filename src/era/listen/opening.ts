import type { Incoming } from "../../codec/index.js";
import { Canceller, type Fault, weigh } from "../../core/index.js";

/** Messages that may wait for a session: its client is to wait itself, so few ever do. */
export const OPENING_MESSAGES = 64;

/** A session that is being opened, and the messages that mean something only once it is. */
export class Opening {
  readonly cancel: Canceller = new Canceller();
  readonly #maxBytes: number;
  #messages: Incoming[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Keeps a message; false if there is no room. */
  put(message: Incoming): boolean {
    this.#bytes += weigh(message);
    if (this.#messages.length >= OPENING_MESSAGES || this.#bytes > this.#maxBytes) return false;
    this.#messages.push(message);
    return true;
  }

  /** The next of those that were kept, in their order. */
  next(): Incoming | undefined {
    return this.#messages.shift();
  }

  /** Nobody waits for it any more. */
  end(reason: Fault): void {
    this.#messages = [];
    this.cancel.fire(reason);
  }
}
