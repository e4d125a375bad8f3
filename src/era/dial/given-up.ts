import type { Id, IncomingError, IncomingResult } from "../../codec/index.js";
import { Fault, type JsonObject } from "../../core/index.js";
import { keptFor } from "../kept.js";

/** How many are remembered: a peer need not answer them at all. */
const REMEMBERED = 4096;

/** Calls whose answers nobody waits for any more: one that still comes is late, and not wrong. */
export class GivenUp {
  readonly #methods = new Map<Id, string>();

  add(id: Id, method: string): void {
    this.#methods.set(id, method);
    if (this.#methods.size > REMEMBERED) this.#methods.delete(this.#methods.keys().next().value as Id);
  }

  /**
   * Takes an answer that no open call waits for, and throws if it is to none of these either. Gives what the peer keeps for a next
   * request: the answer crossed with the cancel, so the peer does not know that nobody will come back.
   */
  take(message: IncomingResult | IncomingError): JsonObject | undefined {
    const method = message.id === undefined ? undefined : this.#methods.get(message.id);
    if (message.id === undefined || method === undefined) throw toNoCall(message);
    this.#methods.delete(message.id);
    return message.kind === "result" ? keptFor(method, message.value) : undefined;
  }
}

function toNoCall(message: IncomingResult | IncomingError): Fault {
  const what =
    message.kind === "error" && message.id === undefined
      ? `an error of no call: ${message.error.message}`
      : `a response to no open call: id ${JSON.stringify(message.id)}`;
  return new Fault("invalid-request", `the peer sent ${what}`);
}
