import type { IncomingError, IncomingNotification, IncomingResult, OutgoingNotification, OutgoingRequest } from "../../codec/index.js";
import { Fault, fromRpcError, isLegacyVersion, isObject, type JsonObject } from "../../core/index.js";
import { otherEra, refusesLegacy } from "./loss.js";
import { newsOfSession, renewedAs } from "./news.js";

/** Sends to a session that has just begun, or is about to. */
export interface FreshSession {
  /** Sends the request again, under an id that no call has. Resolves with its answer, and rejects if none can come. */
  request(message: OutgoingRequest): Promise<IncomingResult | IncomingError>;
  notify(message: OutgoingNotification): Promise<void>;
}

/** Requests that are in flight at the same time while a session is restored. */
const AT_ONCE = 16;

/** Capabilities of a client that let a server ask it something. */
const askable = ["elicitation", "sampling", "roots"] as const;

/** What a legacy session has set up, so that a session that replaces it can be given the same. */
export class LegacyState {
  #initialize: OutgoingRequest | undefined;
  #initialized: JsonObject = {};
  #level: OutgoingRequest | undefined;
  readonly #subscriptions = new Map<unknown, OutgoingRequest>();

  /** Whether there is a session to restore. */
  get begun(): boolean {
    return this.#initialize !== undefined;
  }

  /** Whether the server was told that it may ask its client something. */
  get canBeAsked(): boolean {
    const capabilities = this.#initialize?.params?.["capabilities"];
    return isObject(capabilities) && askable.some((name) => capabilities[name] !== undefined);
  }

  /** Notes a request when it is sent, whatever the answer: a client that sets a level or unsubscribes does not do so twice. */
  asked(request: OutgoingRequest): void {
    if (request.method === "logging/setLevel") this.#level = request;
    else if (request.method === "resources/unsubscribe") this.#subscriptions.delete(request.params?.["uri"]);
  }

  /** The notifications for its users if something was lost: nobody knows what has changed meanwhile. */
  get news(): readonly IncomingNotification[] {
    const { capabilities } = this.#initialized;
    return newsOfSession(isObject(capabilities) ? capabilities : {}, this.#subscriptions.keys());
  }

  /** What the server said about itself last. */
  get initialized(): JsonObject {
    return this.#initialized;
  }

  /** Notes a request that the server has answered with a result. */
  granted(request: OutgoingRequest, result: JsonObject): void {
    if (request.method === "initialize") {
      this.#initialize = request;
      this.#initialized = result;
    } else if (request.method === "resources/subscribe") this.#subscriptions.set(request.params?.["uri"], request);
    else this.asked(request);
  }

  /**
   * Gives a fresh session the state of the lost one. Resolves with the notifications for its users. If a subscription is refused now,
   * `onFault` is called, and the next session tries it again.
   */
  async restore(session: FreshSession, onFault: (fault: Fault) => void): Promise<readonly IncomingNotification[]> {
    const begun = await session.request(this.#initialize as OutgoingRequest);
    if (begun.kind === "error") {
      const fault = fromRpcError(begun.error);
      throw refusesLegacy(fault) ? otherEra("legacy", undefined, fault) : fault;
    }
    const { protocolVersion } = begun.value;
    if (!isLegacyVersion(String(protocolVersion)))
      throw new Fault("unsupported-version", `the server came back with another protocol version: ${String(protocolVersion)}`);
    this.#initialized = begun.value;
    await session.notify({ jsonrpc: "2.0", method: "notifications/initialized" });
    const again = [...(this.#level === undefined ? [] : [this.#level]), ...this.#subscriptions.values()];
    const give = async (request: OutgoingRequest): Promise<void> => {
      const answer = await session.request(request);
      if (answer.kind === "error") onFault(fromRpcError(answer.error));
    };
    for (let at = 0; at < again.length; at += AT_ONCE) await Promise.all(again.slice(at, at + AT_ONCE).map(give));
    return [renewedAs(begun.value), ...this.news];
  }
}
