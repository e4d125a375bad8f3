import { fixedTimeouts } from "../../core/index.js";
import { settings } from "./frames.js";

/**
 * Streams that were reset while the server had as many as it allows. A server may need a moment until it has room again: `node:http2` of
 * Node 22.23 and later resets a request that comes right behind the reset of another with ENHANCE_YOUR_CALM, which does not say whether the
 * request has run. So such a place is used again when the server has acknowledged settings that were sent after the reset. A PING would do
 * as well, but gRPC servers count those against their clients.
 */
export class Resets {
  readonly #send: (bytes: Uint8Array) => void;
  readonly #onRoom: () => void;
  /** Settings that were not acknowledged yet. The first were sent when the connection opened. */
  #settings = 1;
  /** Resets before the settings that were sent last, and after them. */
  #before = 0;
  #after = 0;
  /** Runs while settings are to be acknowledged: not every server does that. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(send: (bytes: Uint8Array) => void, onRoom: () => void) {
    this.#send = send;
    this.#onRoom = onRoom;
  }

  /** Resets that the server may not have read. */
  get unread(): number {
    return this.#before + this.#after;
  }

  add(): void {
    this.#after++;
    if (this.#before === 0) this.#confirm();
  }

  acknowledged(): void {
    if (--this.#settings === 0 && this.#before > 0) this.#read();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  readonly #read = (): void => {
    clearTimeout(this.#timer);
    this.#before = 0;
    if (this.#after > 0) this.#confirm();
    this.#onRoom();
  };

  #confirm(): void {
    this.#before = this.#after;
    this.#after = 0;
    this.#settings++;
    this.#timer = setTimeout(this.#read, fixedTimeouts.lingerMs);
    this.#send(settings([]));
  }
}
