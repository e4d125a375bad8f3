import { toFault } from "../fault.js";
import { AMBIENT } from "../service.js";
import type { Engine } from "./engine.js";
import type { CallExchange } from "./exchange.js";

/** The background call on which asks, logs and notifications outside any call arrive. The client does not depend on it: it may end. */
export class Ambient {
  readonly #engine: Engine;
  #exchange: CallExchange | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  open(): void {
    const exchange = (this.#exchange = this.#engine.exchange(AMBIENT, {}, { lasting: true }));
    void this.#read(exchange);
  }

  /** Opens the call again with the current log level. Nothing can arrive in between. */
  reopen(): void {
    if (this.#exchange === undefined) return;
    this.close();
    this.open();
  }

  close(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    void exchange?.return();
  }

  async #read(exchange: CallExchange): Promise<void> {
    try {
      for await (const reply of exchange) this.#engine.hear(reply, AMBIENT, {});
    } catch (error) {
      const fault = toFault(error);
      // A service need not have such a call.
      if (this.#exchange === exchange && fault.code !== "unknown-method") this.#engine.report(fault);
    } finally {
      if (this.#exchange === exchange) this.#exchange = undefined;
    }
  }
}
