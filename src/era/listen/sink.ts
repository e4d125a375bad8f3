import type { AnswerPart, Id, SendOptions } from "../../codec/index.js";
import { beside, extended, isObject, type JsonObject, meta, noParams, type Reply, weigh } from "../../core/index.js";
import type { CallEnvelope } from "../envelope.js";
import { anywireKeys } from "../keys.js";
import { weighPart } from "../size.js";
import type { AnswerOptions } from "./answer-options.js";

/** What the lightest message counts. */
const LEAST = 16;
/** Weights of read messages that may be kept. */
const COMPACT = 1024;

export interface SinkOptions {
  readonly id: Id;
  readonly envelope: CallEnvelope;
  readonly modern: boolean;
  readonly answerOptions: Pick<AnswerOptions, "send" | "part">;
}

/** Where the notifications of one call go, and the parts of its answer: to its caller, at the pace the caller grants. */
export class Sink {
  readonly #options: SinkOptions;
  readonly #sending: SendOptions;
  #room: number;
  /** What the messages weigh that the caller has not read; those before `#read` it has. */
  #weights: number[] | undefined;
  #read = 0;
  #wake: (() => void) | undefined;

  constructor(options: SinkOptions) {
    this.#options = options;
    this.#sending = { call: options.id };
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
  part(part: AnswerPart): Promise<void> | undefined {
    const { id, envelope } = this.#options;
    const sent = this.#options.answerOptions.part(id, part);
    if (envelope.window === undefined) return sent;
    this.#spend(weighPart(part));
    if (this.#room > 0) return sent;
    return sent === undefined ? this.#granted() : sent.then(() => this.#granted());
  }

  /**
   * The caller has read `messages` more: what they weighed may be sent again. Counted so, because the two ends need not agree on what a
   * message weighs, and a difference would add up until the call starves or its caller is flooded.
   */
  grant(messages: number): void {
    const weights = this.#weights;
    if (weights === undefined) return;
    const count = Math.min(messages, weights.length - this.#read);
    for (let left = count; left > 0; left--) this.#room += weights[this.#read++] ?? 0;
    if (this.#read > COMPACT) {
      this.#weights = weights.slice(this.#read);
      this.#read = 0;
    }
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
    return envelope.window === undefined ? undefined : { [anywireKeys.call]: id };
  }

  #deliver(method: string, params: JsonObject): Promise<void> | undefined {
    const { envelope, answerOptions } = this.#options;
    const sent = answerOptions.send({ jsonrpc: "2.0", method, params }, this.#sending);
    if (envelope.window === undefined) return sent;
    this.#spend(weigh(params));
    return this.#room > 0 ? sent : sent.then(() => this.#granted());
  }

  #spend(weight: number): void {
    // Even what weighs nothing takes a place in the caller's memory.
    const counted = Math.max(weight, LEAST);
    this.#weights ??= [];
    this.#weights.push(counted);
    this.#room -= counted;
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
  const bare = params === noParams ? "absent" : beside(params)?.["params"] === null ? "null" : undefined;
  return extended(params, {
    _meta: extended(isObject(kept) ? kept : undefined, bare === undefined ? stamp : { ...stamp, [anywireKeys.bare]: bare }),
  });
}
