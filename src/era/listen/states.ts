import { extended, type Held, isKeptState, isObject, type JsonObject, type Request } from "../../core/index.js";
import { badState } from "../seal.js";
import type { AnswerOptions, Job } from "./answer-options.js";
import type { Work } from "./work.js";

/**
 * What a retry continues with: the call that waits here for its answers, or the request with the state that the service behind this edge
 * knows. A state that this edge did not seal passes unchanged, but only if the service can have made it. That is not so if it has Anywire's
 * mark, or if the caller has a principal: `sealedState` seals both.
 */
export async function resumed(answerOptions: AnswerOptions, job: Job, request: Request): Promise<Work | Request> {
  const { requestState } = request.params;
  if (job.era === "legacy" || typeof requestState !== "string") return request;
  const { principal } = job.client.identity;
  const { seal, asked } = answerOptions.parking;
  if (!(await seal.mine(requestState))) {
    if (isKeptState(requestState)) throw badState("it was given by another server, or before this one was started");
    if (principal !== undefined) throw badState("it was not given to this caller");
    return request;
  }
  const sealed = await seal.open(requestState, request, principal);
  if ("state" in sealed) return { method: request.method, params: extended(request.params, { requestState: sealed.state }) };
  const work = asked.take(sealed.call);
  if (work === undefined) throw badState("its call has ended or expired, or waits in another process");
  work.parked = false;
  answerAsks(work, request.params["inputResponses"]);
  takeOver(job.held, work.held);
  // This request's cancel ends the work that an earlier request began.
  job.cancel.on(() => work.leave());
  return work;
}

/** Takes over what the call of an earlier request holds, which may be more. */
export function takeOver(held: Held, earlier: Held | undefined): void {
  if (earlier === undefined) return;
  const { bytes } = earlier;
  earlier.free();
  held.set(Math.max(held.bytes, bytes));
}

function answerAsks(work: Work, responses: unknown): void {
  if (!isObject(responses)) return;
  for (const [key, ask] of [...work.asks]) {
    const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
    if (!isObject(response)) continue;
    work.asks.delete(key);
    ask.answer(response);
  }
}

/**
 * A result that requires input, for its caller. The service behind a relay may see all callers of the relay as one, so its state is sealed
 * for the principal that gets it. The state of another Anywire end is always sealed: so any state with Anywire's mark that comes back was
 * made by this edge, or is invalid.
 */
export async function sealedState({ parking }: AnswerOptions, { era, client, envelope }: Job, result: JsonObject): Promise<JsonObject> {
  const { requestState } = result;
  const { principal } = client.identity;
  if (era === "legacy" || typeof requestState !== "string" || (await parking.seal.mine(requestState))) return result;
  if (principal === undefined && !isKeptState(requestState)) return result;
  return extended(result, { requestState: await parking.seal.close({ state: requestState }, envelope.request, principal) });
}
