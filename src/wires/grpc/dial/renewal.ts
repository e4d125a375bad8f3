import type { Id, Incoming, OutgoingMessage, OutgoingRequest } from "../../../codec/index.js";

/** Ids of what the link asks on its own account. */
const AGAIN = "anywire-again-";

/** What a legacy session has to be told again when its stream broke and it begins anew. */
export class Renewal {
  #initialize: OutgoingRequest | undefined;
  #level: OutgoingRequest | undefined;
  readonly #subscribed = new Map<string, OutgoingRequest>();
  /** The resource whose subscription is renewed, by the id of that. */
  #renewing = new Map<Id, string>();

  /** Whether there is a session to renew. */
  get begun(): boolean {
    return this.#initialize !== undefined;
  }

  /** Takes note of a request that the caller makes. */
  note(request: OutgoingRequest): void {
    const uri = String(request.params?.["uri"]);
    switch (request.method) {
      case "initialize":
        this.#initialize = request;
        break;
      case "logging/setLevel":
        this.#level = request;
        break;
      case "resources/subscribe":
        this.#subscribed.set(uri, request);
        break;
      case "resources/unsubscribe":
        this.#subscribed.delete(uri);
    }
  }

  /** What to say on a new stream, before `message` if that is what opens it. */
  messages(message: OutgoingMessage | undefined): readonly OutgoingMessage[] {
    if (this.#initialize === undefined || this.#initialize === message) return [];
    this.#renewing = new Map();
    const all: OutgoingMessage[] = [
      { ...this.#initialize, id: `${AGAIN}initialize` },
      { jsonrpc: "2.0", method: "notifications/initialized" },
    ];
    if (this.#level !== undefined && this.#level !== message) all.push({ ...this.#level, id: `${AGAIN}level` });
    for (const [uri, request] of this.#subscribed) {
      if (request === message) continue;
      const id = `${AGAIN}${this.#renewing.size}`;
      this.#renewing.set(id, uri);
      all.push({ ...request, id });
    }
    return all;
  }

  /** Whether an answer is to one of these, and what it tells the subscriber: nobody knows what changed meanwhile. */
  answered(id: Id | undefined): { readonly news?: Incoming } | undefined {
    if (typeof id !== "string" || !id.startsWith(AGAIN)) return undefined;
    const uri = this.#renewing.get(id);
    if (uri === undefined) return {};
    return { news: { kind: "notification", method: "notifications/resources/updated", params: { uri } } };
  }
}
