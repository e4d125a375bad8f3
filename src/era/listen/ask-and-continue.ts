import { callAgain, type JsonObject, optionLimits, RELEASE, requiresInput } from "../../core/index.js";
import type { AnswerOptions, Job } from "./answer-options.js";
import type { Work } from "./work.js";

/** If a legacy client's call requires input, asks the client and continues with its answers. False if the result is final. */
export function askAndContinue({ service }: AnswerOptions, { asks, envelope, context }: Job, work: Work, result: JsonObject): boolean {
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
