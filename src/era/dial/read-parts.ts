import {
  type Context,
  extended,
  Fault,
  guard,
  isObject,
  type JsonObject,
  type Replies,
  type Reply,
  type Request,
} from "../../core/index.js";
import { own, RANGE_BYTES } from "../keys.js";
import { questions } from "../questions.js";
import type { RangePeer } from "./ranged.js";

/** A read on a link that carries answers piece by piece. */
export function readParts(peer: RangePeer, request: Request, context: Context): Replies {
  const { range, ...plain } = context;
  const given = isObject(request.params["_meta"]) ? request.params["_meta"] : undefined;
  const asked = { offset: range?.offset ?? 0, chunkSize: range?.chunkSize ?? RANGE_BYTES };
  const params = extended(request.params, { _meta: extended(given, { [own.chunked]: asked }) });
  return new PartsRead(peer, { method: request.method, params }, plain);
}

/** Returns the inner replies but for one case: a read that has begun cannot end with what its server wants to know. */
class PartsRead implements Replies {
  readonly #peer: RangePeer;
  readonly #request: Request;
  readonly #context: Context;
  #replies: Replies;
  #begun = false;

  constructor(peer: RangePeer, request: Request, context: Context) {
    this.#peer = peer;
    this.#request = request;
    this.#context = context;
    this.#replies = peer.call(request, context);
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }

  next(): Promise<IteratorResult<Reply, undefined>> {
    const next = this.#replies.next();
    return this.#begun ? next.then((step) => this.#asked(step) ?? step) : next.then((step) => this.#begins(step));
  }

  return(): Promise<IteratorResult<Reply, undefined>> {
    return this.#replies.return();
  }

  #begins(step: IteratorResult<Reply, undefined>): IteratorResult<Reply, undefined> {
    if (step.done !== true && step.value.kind === "content") this.#begun = true;
    return step;
  }

  /** Its caller would not find the way back, so the questions are asked here and the call goes on with their answers. */
  #asked(step: IteratorResult<Reply, undefined>): Promise<IteratorResult<Reply, undefined>> | undefined {
    if (step.done === true || step.value.kind !== "result" || step.value.value["resultType"] !== "input_required") return undefined;
    this.#replies = guard((inner) => goOn(this.#peer, this.#request, inner, (step.value as { value: JsonObject }).value), this.#context);
    return this.next();
  }
}

async function* goOn(peer: RangePeer, request: Request, context: Context, required: JsonObject): AsyncGenerator<Reply, JsonObject> {
  const { inputResponses, requestState, ...bare } = request.params;
  let kept: JsonObject | undefined = { requestState: required["requestState"] };
  try {
    const { asks, answers } = questions(required["inputRequests"] ?? {}, context.cancel);
    for (const ask of asks) yield { kind: "ask", ask };
    const params = { ...bare, inputResponses: await answers, ...kept };
    kept = undefined;
    for await (const reply of peer.call({ method: request.method, params }, context)) {
      if (reply.kind === "result") return reply.value;
      yield reply;
    }
    throw new Fault("unavailable", "the read ended without a result");
  } finally {
    if (kept !== undefined) peer.release(kept);
  }
}
