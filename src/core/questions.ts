import { type Cancel, Canceller } from "./cancel.js";
import { Fault } from "./fault.js";
import { isObject, type JsonObject, noParams } from "./json.js";
import type { Ask } from "./service.js";

/** What an `input_required` result asks, as asks in the middle of a call. */
export interface Questions {
  readonly asks: readonly Ask[];
  /** The `inputResponses`. Rejects at the first refusal, or when `cancel` fires, and withdraws the other questions. */
  readonly answers: Promise<JsonObject>;
}

export function questions(requests: unknown, cancel: Cancel): Questions {
  if (!isObject(requests)) throw new Fault("invalid-request", "the server's inputRequests are not an object");
  const withdrawn = new Canceller();
  const asks: Ask[] = [];
  const answers = Object.entries(requests).map(([key, request]) => {
    if (!isObject(request) || typeof request["method"] !== "string")
      throw new Fault("invalid-request", `the server's input request ${JSON.stringify(key)} has no method`);
    const { method, params } = request;
    return new Promise<[string, JsonObject]>((resolve, reject) => {
      asks.push({
        key,
        request: { method, params: isObject(params) ? params : noParams },
        origin: "stated",
        cancel: withdrawn,
        answer: (result) => resolve([key, result]),
        // Nobody can answer that question. That does not mean that the method of the call is unknown.
        refuse: (fault) =>
          reject(fault.code === "unknown-method" ? new Fault("missing-capability", fault.message, { cause: fault }) : fault),
        progress() {},
        wantsProgress: false,
      });
      withdrawn.on(() => reject(withdrawn.reason));
    });
  });
  const all = gather(answers, cancel, withdrawn);
  // The asker may have left before it waits for the answers.
  all.catch(() => {});
  return { asks, answers: all };
}

async function gather(answers: readonly Promise<[string, JsonObject]>[], cancel: Cancel, withdrawn: Canceller): Promise<JsonObject> {
  const unhook = cancel.on(() => withdrawn.fire(cancel.reason));
  try {
    return Object.fromEntries(await Promise.all(answers));
  } catch (error) {
    withdrawn.fire(new Fault("cancelled", "another question of the same call was refused"));
    throw error;
  } finally {
    unhook();
  }
}
