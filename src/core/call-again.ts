import { Fault } from "./fault.js";
import type { JsonObject } from "./json.js";
import { isKeptState } from "./parked.js";
import { questions } from "./questions.js";
import { guard } from "./replies.js";
import type { Context, Replies, Reply, Request } from "./service.js";

export interface CallAgain {
  readonly request: Request;
  readonly context: Context;
  /** The result that requires input. */
  readonly required: JsonObject;
  /** How often the call may be made again; any number unless given. */
  readonly maxRounds?: number;
  call(request: Request, context: Context): Replies;
  /** Tells the server that nobody will come back for what it keeps. */
  release(kept: { readonly requestState: string }): void;
  /** Called with true when the client waits for answers and no call is open, and with false when that is over. */
  waits?(waiting: boolean): void;
}

/** Whether a result requires input. */
export function requiresInput(result: JsonObject): boolean {
  return result["resultType"] === "input_required";
}

/** Continues a call whose result requires input: its questions become asks of the call, and the call is made again with the answers. */
export function callAgain(again: CallAgain): Replies {
  return guard((inner) => rounds(again, inner), again.context);
}

async function* rounds(again: CallAgain, context: Context): AsyncGenerator<Reply, JsonObject> {
  const { request, call } = again;
  let { deadline } = context;
  for (let required = again.required, round = 1; ; round++) {
    const began = Date.now();
    const params = yield* answered(again, required, round, context);
    // The time that the answers take does not count against the deadline.
    if (deadline !== undefined) deadline += Date.now() - began;
    let result: JsonObject | undefined;
    for await (const reply of call({ method: request.method, params }, deadline === undefined ? context : { ...context, deadline })) {
      if (reply.kind === "result") result = reply.value;
      else yield reply;
    }
    if (result === undefined) throw new Fault("unavailable", "the call ended without a result");
    if (!requiresInput(result)) return result;
    required = result;
  }
}

/** The params of the next round. */
async function* answered(
  { request, maxRounds = Number.POSITIVE_INFINITY, release, waits }: CallAgain,
  { inputRequests, requestState }: JsonObject,
  round: number,
  { cancel }: Context,
): AsyncGenerator<Reply, JsonObject> {
  const { inputResponses: _, requestState: __, ...params } = request.params;
  const next: Record<string, unknown> = params;
  let kept = isKeptState(requestState) ? { requestState } : undefined;
  waits?.(true);
  try {
    if (inputRequests === undefined && requestState === undefined)
      throw new Fault("invalid-request", "the server requires input, but names neither requests nor a state");
    if (round > maxRounds)
      throw new Fault("overload", `the server asked for input more than ${maxRounds} times`, {
        data: { limit: "maxRounds", max: maxRounds },
      });
    if (inputRequests !== undefined) {
      const { asks, answers } = questions(inputRequests, cancel);
      for (const ask of asks) yield { kind: "ask", ask };
      next["inputResponses"] = await answers;
    }
    if (requestState !== undefined) next["requestState"] = requestState;
    kept = undefined;
    return next;
  } finally {
    waits?.(false);
    if (kept !== undefined) release(kept);
  }
}
