import { callAgain, type JsonObject, optionLimits, RELEASE, requiresInput } from "../../core/index.js";
import type { AnswerOptions, Job } from "./answer-options.js";
import type { Work } from "./work.js";

/** Where a legacy client's call requires input: goes on with the client's answers. False if the result stands. */
export function again({ service }: AnswerOptions, { asks, envelope, context }: Job, work: Work, result: JsonObject): boolean {
  if (asks === undefined || !requiresInput(result)) return false;
  work.over(
    callAgain({
      request: envelope.request,
      context,
      required: result,
      maxRounds: optionLimits.maxRounds,
      call: (request, inner) => service.call(request, inner),
      release: (kept) => void service.notify({ method: RELEASE, params: kept }, context).catch(() => {}),
    }),
  );
  return true;
}
