import { type Context, callAgain, type Replies, type Reply, type Request, requiresInput } from "../../core/index.js";
import type { Peer } from "./peer.js";

type ReplyStep = IteratorResult<Reply, undefined>;

/** What an answered call needs from its link. */
export type AnsweredPeer = Pick<Peer, "call" | "release">;

/**
 * A call whose questions are asked here when its peer requires input: from the start, or once a content has arrived. The caller sees asks
 * in the middle of one call, because it could not resume a call that has already returned something.
 */
export function answeredHere(peer: AnsweredPeer, request: Request, context: Context, from: "content" | "start"): Replies {
  return new AnsweredHere(peer, request, context, from === "start");
}

class AnsweredHere implements Replies {
  readonly #peer: AnsweredPeer;
  readonly #request: Request;
  readonly #context: Context;
  #replies: Replies;
  #begun: boolean;

  constructor(peer: AnsweredPeer, request: Request, context: Context, begun: boolean) {
    this.#peer = peer;
    this.#begun = begun;
    this.#request = request;
    this.#context = context;
    this.#replies = peer.call(request, context);
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }

  next(): Promise<ReplyStep> {
    const next = this.#replies.next();
    return this.#begun ? next.then((step) => this.#asked(step) ?? step) : next.then((step) => this.#begins(step));
  }

  return(): Promise<ReplyStep> {
    return this.#replies.return();
  }

  #begins(step: ReplyStep): ReplyStep {
    if (step.done !== true && step.value.kind === "content") this.#begun = true;
    return step;
  }

  /** The caller could not resume the call, so the questions are asked here, and the call goes on with the answers. */
  #asked(step: ReplyStep): Promise<ReplyStep> | undefined {
    if (step.done === true || step.value.kind !== "result" || !requiresInput(step.value.value)) return undefined;
    const peer = this.#peer;
    this.#replies = callAgain({
      request: this.#request,
      context: this.#context,
      required: step.value.value,
      call: (request, context) => peer.call(request, context),
      release: (kept) => peer.release(kept),
    });
    return this.next();
  }
}
