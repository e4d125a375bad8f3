import { type Ask, askingMethods, Fault, type JsonObject, noParams, type Reply } from "../../core/index.js";
import { lacking } from "../capabilities.js";
import { randomToken } from "../seal.js";
import { type AnswerOptions, type Job, keep } from "./answer-options.js";
import { keepCaller } from "./known-callers.js";
import type { Work } from "./work.js";

/** Passes on every reply that is not an item, a content or the result. An ask of a modern client's call is held in its work. */
export function handle(job: Job, work: Work, reply: Reply): Promise<void> | undefined {
  if (reply.kind !== "ask") return job.sink.notify(reply);
  if (job.asks !== undefined) return job.asks.ask(reply.ask, job.id, job.envelope.window !== undefined);
  const refused = unaskable(job, reply.ask) ?? lacking(reply.ask.request, job.client.capabilities);
  if (refused === undefined) work.hold(reply.ask);
  else reply.ask.refuse(refused);
  return undefined;
}

/** Passes on what a list sends besides its items. Only a legacy client can be asked there. */
export function pass(job: Job, reply: Reply): Promise<void> | undefined {
  if (reply.kind !== "ask") return job.sink.notify(reply);
  if (job.asks !== undefined) return job.asks.ask(reply.ask, job.id, job.envelope.window !== undefined);
  reply.ask.refuse(unaskable(job, reply.ask) ?? new Fault("invalid-request", "a list cannot ask its client"));
  return undefined;
}

const embeddable: ReadonlySet<string> = new Set(["elicitation/create", "sampling/createMessage", "roots/list"]);

function unaskable(job: Job, ask: Ask): Fault | undefined {
  // A legacy client behind a relay can be asked anything at any time, because the relay asks it in its session.
  if (job.client.era === "legacy") return undefined;
  if (!embeddable.has(ask.request.method)) return new Fault("unknown-method", `a modern client cannot be asked ${ask.request.method}`);
  if (!askingMethods.has(job.envelope.request.method))
    return new Fault("invalid-request", `${job.envelope.request.method} cannot ask its client`);
  return undefined;
}

/**
 * Parks the call and returns what the client has to answer. The retry finds the call by its sealed state. Undefined if no ask is open any
 * more.
 */
export async function inputRequired(answerOptions: AnswerOptions, job: Job, work: Work): Promise<JsonObject | undefined> {
  const call = randomToken();
  const sealed = { call, until: Date.now() + answerOptions.limits.answerMs };
  const state = await answerOptions.parking.seal.close(sealed, job.envelope.request, job.client.identity.principal);
  // All asks may have been withdrawn meanwhile.
  if (work.asks.size === 0) return undefined;
  keep(job, answerOptions.parking.asked, call, work);
  if (!job.cancel.fired) {
    work.held = job.held.handOver();
    work.parked = true;
    work.endCaller ??= keepCaller(job.client.identity);
  }
  const inputRequests = Object.fromEntries(
    [...work.asks].map(
      ([
        key,
        {
          request: { method, params },
        },
      ]) => [key, params === noParams ? { method } : { method, params }],
    ),
  );
  return { resultType: "input_required", inputRequests, requestState: state };
}
