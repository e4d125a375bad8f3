import type { Cancel, RestartOptions } from "../core/index.js";
import { Backoff } from "../stream/index.js";
import { pause } from "./pause.js";

export interface RecoveryOptions {
  readonly restart: RestartOptions;
  /** Fires when the bridge is closed. */
  readonly over: Cancel;
  /** Whether the server is known to be away. */
  readonly isAway: () => boolean;
  /** Tries to reach the server. Whether that worked is seen from `isAway`. */
  readonly reach: () => Promise<unknown>;
}

/** Tries a server that is away until it is back, so that a bridge becomes ready again without a call. Growing pauses lie between. */
export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #backoff: Backoff<undefined>;
  #running = false;

  constructor(options: RecoveryOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.restart);
  }

  /** Whether so many attempts have failed that the next comes much later. */
  get exhausted(): boolean {
    return this.#backoff.exhausted;
  }

  /** Begins, unless it is running. */
  begin(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { over, isAway, reach } = this.#options;
    // Not in the turn in which the loss was noticed: whoever noticed it may not be done.
    await pause(0, over);
    while (!over.fired && isAway()) {
      await reach().catch(() => {});
      if (!isAway()) break;
      this.#backoff.failed(undefined);
      await pause(this.#backoff.wait, over);
    }
    this.#backoff.reset();
    this.#running = false;
  }
}
