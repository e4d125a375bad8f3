import type { AnswerPart, Id, SendOptions } from "../../codec/index.js";
import { envelopeMembers, extended, isObject, type JsonObject, meta, noParams, type Reply, weigh } from "../../core/index.js";
import type { CallEnvelope } from "../envelope.js";
import { anywireKeys } from "../keys.js";
import { weighPart } from "../size.js";
import type { AnswerOptions } from "./answer-options.js";

/** The least weight of a message. */
const LEAST = 16;
/** Weights of read messages that may still be kept. */
const COMPACT = 1024;

export interface SinkOptions {
  readonly id: Id;
  readonly envelope: CallEnvelope;
  readonly modern: boolean;
  readonly answerOptions: Pick<AnswerOptions, "send" | "part">;
}

/** Sends the notifications of one call, and the parts of its answer, at the pace that the caller grants. */
export class Sink {
  readonly #options: SinkOptions;
  readonly #sending: SendOptions;
  #room: number;
  /** The weights of the messages in flight. The caller has read those before `#read`. */
  #weights: number[] | undefined;
  #read = 0;
  #wake: (() => void) | undefined;

  constructor(options: SinkOptions) {
    this.#options = options;
    this.#sending = { call: options.id };
    this.#room = options.envelope.window ?? Number.POSITIVE_INFINITY;
  }

  /** Sends a reply as a notification. Resolves when there is room for the next. */
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

  /** Sends a part of the answer. Wait for the returned promise before the next. */
  part(part: AnswerPart): Promise<void> | undefined {
    const { id, envelope } = this.#options;
    const sent = this.#options.answerOptions.part(id, part);
    if (envelope.window === undefined) return sent;
    this.#spend(weighPart(part));
    if (this.#room > 0) return sent;
    return sent === undefined ? this.#granted() : sent.then(() => this.#granted());
  }

  /**
   * The caller has read `messages` more messages, so their weight may be sent again. Messages are counted, not bytes: the two ends may
   * weigh a message differently, and the difference would add up until the call stalls or its caller is flooded.
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

  /** No more credit will come, so waiting sends continue. */
  release(): void {
    this.#room = Number.POSITIVE_INFINITY;
    this.#wake?.();
  }

  /** The `_meta` that names the call of a notification. A caller that grants credit is an Anywire end, and understands it. */
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
    // Even a message without weight takes memory at the caller.
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
  const bare = params === noParams ? "absent" : envelopeMembers(params)?.["params"] === null ? "null" : undefined;
  return extended(params, {
    _meta: extended(isObject(kept) ? kept : undefined, bare === undefined ? stamp : { ...stamp, [anywireKeys.bare]: bare }),
  });
}
