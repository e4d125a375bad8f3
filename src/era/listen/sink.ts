import type { Id, OutgoingMessage, Part } from "../../codec/index.js";
import { extended, isObject, type JsonObject, meta, type Reply, weigh } from "../../core/index.js";
import type { Envelope } from "../envelope.js";
import { own } from "../keys.js";
import { weighPart } from "../size.js";

export interface SinkOptions {
  readonly id: Id;
  readonly envelope: Envelope;
  readonly modern: boolean;
  readonly send: (message: OutgoingMessage, call: Id) => Promise<void>;
  readonly part: ((call: Id, part: Part) => Promise<void> | undefined) | undefined;
}

/** Where the notifications of one call go, and the parts of its answer: to its caller, at the pace the caller grants. */
export class Sink {
  readonly #options: SinkOptions;
  #room: number;
  #wake: (() => void) | undefined;

  constructor(options: SinkOptions) {
    this.#options = options;
    this.#room = options.envelope.window ?? Number.POSITIVE_INFINITY;
  }

  /** Sends a reply that is a notification; resolves when there is room for the next. */
  notify(reply: Reply): Promise<void> | undefined {
    const { progressToken } = this.#options.envelope;
    switch (reply.kind) {
      case "progress":
        return progressToken === undefined ? undefined : this.#deliver("notifications/progress", { progressToken, ...reply.params });
      case "log":
        return this.#deliver("notifications/message", stamped(reply.params, this.#stamp()));
      case "note":
        return this.#deliver(reply.method, stamped(reply.params, this.#stamp()));
      default:
        return undefined;
    }
  }

  /** Sends a part of the answer; what it returns is to be waited for before the next. */
  part(part: Part): Promise<void> | undefined {
    const { id, envelope } = this.#options;
    const sent = this.#options.part?.(id, part);
    if (envelope.window === undefined) return sent;
    this.#room -= weighPart(part);
    if (this.#room > 0) return sent;
    return sent === undefined ? this.#granted() : sent.then(() => this.#granted());
  }

  /** The caller takes `bytes` more. */
  grant(bytes: number): void {
    const { window } = this.#options.envelope;
    // The two ends may weigh a message a little differently; the window bounds what that adds up to.
    this.#room = Math.min(this.#room + bytes, window ?? this.#room + bytes);
    if (this.#room > 0) this.#wake?.();
  }

  /** Nobody will grant any more: whoever waits goes on. */
  release(): void {
    this.#room = Number.POSITIVE_INFINITY;
    this.#wake?.();
  }

  /** Says whose a notification is. A caller that grants credit is an Anywire end, and understands that. */
  #stamp(): JsonObject | undefined {
    const { id, envelope, modern } = this.#options;
    if (modern && envelope.request.method === "subscriptions/listen") return { [meta.subscriptionId]: id };
    return envelope.window === undefined ? undefined : { [own.call]: id };
  }

  #deliver(method: string, params: JsonObject): Promise<void> | undefined {
    const { id, envelope, send } = this.#options;
    const sent = send({ jsonrpc: "2.0", method, params }, id);
    if (envelope.window === undefined) return sent;
    this.#room -= weigh(params);
    return this.#room > 0 ? sent : sent.then(() => this.#granted());
  }

  #granted(): Promise<void> | undefined {
    if (this.#room > 0) return undefined;
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function stamped(params: JsonObject, stamp: JsonObject | undefined): JsonObject {
  if (stamp === undefined) return params;
  const kept = params["_meta"];
  return extended(params, { _meta: extended(isObject(kept) ? kept : undefined, stamp) });
}
