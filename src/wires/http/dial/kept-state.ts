import type { OutgoingMessage } from "../../../codec/index.js";
import type { JsonObject } from "../../../core/index.js";

/** What a legacy session was told about itself, so that another that takes its place can be told the same. */
export class KeptState {
  #level: JsonObject | undefined;
  readonly #subscriptions = new Map<unknown, JsonObject>();

  /** Looks at every message that is sent. */
  note(message: OutgoingMessage): void {
    if (!("method" in message) || !("id" in message)) return;
    const params = message.params ?? {};
    if (message.method === "logging/setLevel") this.#level = params;
    else if (message.method === "resources/subscribe") this.#subscriptions.set(params["uri"], params);
    else if (message.method === "resources/unsubscribe") this.#subscriptions.delete(params["uri"]);
  }

  /** The requests that bring a new session there. */
  requests(): readonly { readonly id: string; readonly method: string; readonly params: JsonObject }[] {
    const subscriptions = [...this.#subscriptions.values()].map((params, at) => ({
      id: `subscribe-again-${at}`,
      method: "resources/subscribe",
      params,
    }));
    if (this.#level === undefined) return subscriptions;
    return [{ id: "level-again", method: "logging/setLevel", params: this.#level }, ...subscriptions];
  }

  /** What may have changed while nobody listened: a subscriber looks again. */
  doubts(): readonly { readonly method: string; readonly params: JsonObject }[] {
    return [...this.#subscriptions.keys()].map((uri) => ({ method: "notifications/resources/updated", params: { uri } }));
  }
}
