import type { Incoming } from "../../codec/index.js";
import { CALL_BYTES, Canceller, type Fault, fixedLimits, type Held, memoryOf } from "../../core/index.js";

/** Messages that may wait for a session. Few do, because a client should wait itself. */
export const OPENING_MESSAGES: number = fixedLimits.opening;

/** A session that is being opened, and the messages that have to wait for it. */
export class SessionOpening {
  readonly cancel: Canceller = new Canceller();
  readonly #maxBytes: number;
  readonly #held: Held;
  #messages: Incoming[] = [];
  #bytes = 0;

  constructor(maxBytes: number, held: Held) {
    this.#maxBytes = maxBytes;
    this.#held = held;
  }

  /** Keeps a message; false if there is no room. */
  put(message: Incoming): boolean {
    const bytes = this.#bytes + CALL_BYTES + memoryOf(message);
    if (this.#messages.length >= OPENING_MESSAGES || bytes > this.#maxBytes) return false;
    if (this.#held.count(bytes) !== undefined) {
      this.#held.set(this.#bytes);
      return false;
    }
    this.#bytes = bytes;
    this.#messages.push(message);
    return true;
  }

  /** The next held message, in order. */
  next(): Incoming | undefined {
    return this.#messages.shift();
  }

  /** Called when all of them were taken. */
  done(): void {
    this.#held.free();
  }

  /** Ends the opening: nobody waits for it any more. */
  end(reason: Fault): void {
    this.#messages = [];
    this.done();
    this.cancel.fire(reason);
  }
}
