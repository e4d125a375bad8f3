import type { Id, IncomingError, IncomingResult } from "../../codec/index.js";
import { Fault, type Identity, type JsonObject } from "../../core/index.js";
import { dropOldest } from "../../stream/index.js";
import { keptFor } from "../kept.js";
import type { LinkCall } from "./link-call.js";

/** How many are remembered: a peer may never answer them. */
const REMEMBERED = 4096;

interface Late {
  readonly method: string;
  readonly identity: Identity | undefined;
}

/** Calls whose answers nobody waits for any more. An answer that still comes is late, not wrong. */
export class GivenUp {
  readonly #calls = new Map<Id, Late>();

  add({ id, request, context }: LinkCall): void {
    this.#put(id, { method: request.method, identity: context.client.identity });
  }

  /** A request of the edge itself, whose answer does not matter. */
  addOwn(id: Id, method: string): void {
    this.#put(id, { method, identity: undefined });
  }

  /**
   * Takes an answer that no open call waits for, and throws if it answers none of these either. Returns who made the call, and what the
   * peer keeps for a next request: the answer crossed with the cancel, so the peer does not know that nobody will come back.
   */
  take(message: IncomingResult | IncomingError): { readonly kept: JsonObject | undefined; readonly identity: Identity | undefined } {
    const late = message.id === undefined ? undefined : this.#calls.get(message.id);
    if (message.id === undefined || late === undefined) throw toNoCall(message);
    this.#calls.delete(message.id);
    return { kept: message.kind === "result" ? keptFor(late.method, message.value) : undefined, identity: late.identity };
  }

  #put(id: Id, late: Late): void {
    this.#calls.set(id, late);
    if (this.#calls.size > REMEMBERED) dropOldest(this.#calls);
  }
}

function toNoCall(message: IncomingResult | IncomingError): Fault {
  const what =
    message.kind === "error" && message.id === undefined
      ? `an error of no call: ${message.error.message}`
      : `a response to no open call: id ${JSON.stringify(message.id)}`;
  return new Fault("invalid-request", `the peer sent ${what}`);
}
