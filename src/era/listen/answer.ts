import { cutPage, extended, Fault, isObject, type JsonObject, listMembers, type Rest } from "../../core/index.js";
import { randomToken } from "../seal.js";
import { again } from "./again.js";
import { handle, inputRequired, pass } from "./asking.js";
import { type Desk, type Job, keep } from "./desk.js";
import { listPlace, placeFor } from "./parking.js";
import { answerParts } from "./parts.js";
import { answerWhole, readsInParts } from "./read.js";
import { WAITING, Work } from "./work.js";

/** Answers a call with its undressed result; undefined if it ended without one, because it was left. */
export async function answer(desk: Desk, job: Job): Promise<JsonObject | undefined> {
  const { request, chunked } = job.envelope;
  const member = listMembers.get(request.method);
  if (member !== undefined && !desk.traits.inParts(request.method)) return answerList(desk, job, member);
  const parked = request.params["requestState"] === undefined ? undefined : await resumed(desk, job);
  const work = parked ?? new Work(desk.service.call(request, job.context));
  try {
    if (member !== undefined) return await answerParts(desk, job, work);
    if (request.method !== "resources/read") return await answerPlain(desk, job, work);
    // A read in parts has to be asked for. A call with a stream of its own may have one that does not take them.
    const parts = chunked !== undefined && (!desk.traits.ownStream(request.method) || readsInParts(desk, job));
    return parts ? await answerParts(desk, job, work) : await answerWhole(desk, job, work);
  } catch (error) {
    // What failed may have been the way to the client: then the call itself still runs.
    work.leave();
    throw error;
  }
}

/** The call that waits for the answers which this request brings. */
async function resumed(desk: Desk, job: Job): Promise<Work | undefined> {
  const { request } = job.envelope;
  const state = request.params["requestState"];
  if (typeof state !== "string" || !desk.parking.seal.mine(state)) return undefined;
  const work = desk.parking.asked.take(
    placeFor(job.client.identity.principal, await desk.parking.seal.open(state, request, job.client.identity.principal)),
  );
  if (work === undefined) throw new Fault("invalid-params", "the requestState is not valid: its call has ended or expired");
  const responses = request.params["inputResponses"];
  if (isObject(responses)) {
    for (const [key, ask] of [...work.asks]) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (!isObject(response)) continue;
      work.asks.delete(key);
      ask.answer(response);
    }
  }
  return adopt(job, work);
}

/** Lets this request's cancel end the work that an earlier request began. */
function adopt(job: Job, work: Work): Work {
  job.held.set(work.held?.bytes ?? 0);
  work.held?.free();
  job.cancel.on(() => work.leave());
  return work;
}

async function answerList(desk: Desk, job: Job, member: string): Promise<JsonObject | undefined> {
  const { request } = job.envelope;
  const cursor = request.params["cursor"];
  const parked =
    typeof cursor === "string"
      ? desk.parking.lists.take(placeFor(job.client.identity.principal, listPlace(request.method, cursor)))
      : undefined;
  const from: Rest = parked ?? { replies: desk.service.call(request, job.context) };
  if (parked !== undefined) job.cancel.on(() => void parked.replies.return());
  const { pageSize } = job.envelope;
  const size = pageSize === undefined ? desk.pageSize : { ...desk.pageSize, items: Math.min(pageSize, desk.pageSize.items) };
  const cut = await cutPage(from, size, (reply) => pass(job, reply)).catch((error) => {
    void from.replies.return();
    throw error;
  });
  if (cut === undefined) return undefined;
  if (cut.cursor !== undefined) return extended(cut.rest, { [member]: cut.items, nextCursor: cut.cursor });
  if (cut.more === undefined) return extended(cut.rest, { [member]: cut.items });
  const token = randomToken();
  keep(job, desk.parking.lists, placeFor(job.client.identity.principal, listPlace(request.method, token)), cut.more);
  return extended(cut.rest, { [member]: cut.items, nextCursor: token });
}

async function answerPlain(desk: Desk, job: Job, work: Work): Promise<JsonObject | undefined> {
  for (;;) {
    const step = await work.step();
    if (step === WAITING) return inputRequired(desk, job, work);
    if (step.done === true) return undefined;
    const reply = step.value;
    if (reply.kind === "result") {
      if (again(desk, job, work, reply.value)) continue;
      return reply.value;
    }
    const waiting = handle(job, work, reply);
    if (waiting !== undefined) await waiting;
  }
}
