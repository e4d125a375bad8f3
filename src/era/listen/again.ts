import { Fault, isKeptState, type JsonObject, RELEASE } from "../../core/index.js";
import { questions } from "../questions.js";
import type { Desk, Job } from "./desk.js";
import type { Work } from "./work.js";

/** How often a call may be made again for a legacy client because its server answers `input_required`. */
const MAX_ROUNDS = 16;

/** Where a legacy client's call requires input: asks the client and makes the call again with the answers. False if the result stands. */
export async function again(desk: Desk, job: Job, work: Work, result: JsonObject): Promise<boolean> {
  const { asks: client } = job;
  if (client === undefined || result["resultType"] !== "input_required") return false;
  const { inputRequests, requestState } = result;
  if (inputRequests === undefined && requestState === undefined)
    throw new Fault("invalid-request", "the server requires input, but names neither requests nor a state");
  const retry: Record<string, unknown> = { ...job.envelope.request.params };
  try {
    if (++work.rounds > MAX_ROUNDS)
      throw new Fault("overload", `the server asked for input ${MAX_ROUNDS} times`, { data: { limit: "rounds", max: MAX_ROUNDS } });
    if (inputRequests !== undefined) {
      const { asks, answers } = questions(inputRequests, job.cancel);
      for (const ask of asks) client.ask(ask, job.id, job.envelope.window !== undefined).catch(ask.refuse);
      retry["inputResponses"] = await answers;
    }
  } catch (error) {
    if (isKeptState(requestState)) desk.service.notify({ method: RELEASE, params: { requestState } }, job.context).catch(() => {});
    throw error;
  }
  if (requestState !== undefined) retry["requestState"] = requestState;
  work.over(desk.service.call({ method: job.envelope.request.method, params: retry }, job.context));
  return true;
}
