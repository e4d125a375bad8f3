import { type Context, callAgain, extended, isObject, type Replies, type Reply, type Request, requiresInput } from "../../core/index.js";
import { own, PART_BYTES } from "../keys.js";
import type { Peer } from "./peer.js";

type ReplyStep = IteratorResult<Reply, undefined>;

type ReadPeer = Pick<Peer, "call" | "release">;

/** A read whose answer may come piece by piece. */
export function readParts(peer: ReadPeer, request: Request, context: Context): Replies {
  const { range, ...plain } = context;
  const given = isObject(request.params["_meta"]) ? request.params["_meta"] : undefined;
  const asked = { offset: range?.offset ?? 0, chunkSize: range?.chunkSize ?? PART_BYTES };
  const params = extended(request.params, { _meta: extended(given, { [own.chunked]: asked }) });
  return new PartsRead(peer, { method: request.method, params }, plain);
}

/** Returns the inner replies but for one case: a read that has begun cannot end with what its server wants to know. */
class PartsRead implements Replies {
  readonly #peer: ReadPeer;
  readonly #request: Request;
  readonly #context: Context;
  #replies: Replies;
  #begun = false;

  constructor(peer: ReadPeer, request: Request, context: Context) {
    this.#peer = peer;
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

  /** Its caller would not find the way back, so the questions are asked here and the call goes on with their answers. */
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
