import { cutPage, extended, type JsonObject, listMembers, type Rest, requiresInput } from "../../core/index.js";
import { randomToken } from "../seal.js";
import { type AnswerOptions, type Job, keep } from "./answer-options.js";
import { askAndContinue } from "./ask-and-continue.js";
import { handle, inputRequired, pass } from "./asking.js";
import { listOwner, listPlace, type ParkedList } from "./parking.js";
import { answerParts } from "./parts.js";
import { answerWhole, readsInParts } from "./read.js";
import { resumed, sealedState, takeOver } from "./states.js";
import { WAITING, Work } from "./work.js";

/** Answers a call with a result that is not yet adapted to the era; undefined if the call was left, so that there is no result. */
export async function answer(answerOptions: AnswerOptions, job: Job): Promise<JsonObject | undefined> {
  const { request, chunked } = job.envelope;
  const member = listMembers.get(request.method);
  if (member !== undefined && !answerOptions.traits.inParts(request.method)) return answerList(answerOptions, job, member);
  const from = request.params["requestState"] === undefined ? request : await resumed(answerOptions, job, request);
  const work = from instanceof Work ? from : new Work(answerOptions.service.call(from, job.context));
  try {
    if (member !== undefined) return await answerParts(answerOptions, job, work);
    // The client has to ask for a read in parts. A call with a stream of its own may have one that does not carry parts.
    const read = request.method === "resources/read";
    const parts = read && chunked !== undefined && (!answerOptions.traits.ownStream(request.method) || readsInParts(answerOptions, job));
    const result = await (parts ? answerParts : read ? answerWhole : answerPlain)(answerOptions, job, work);
    return result !== undefined && requiresInput(result) ? await sealedState(answerOptions, job, result) : result;
  } catch (error) {
    // If sending to the client failed, the call itself still runs.
    work.leave();
    throw error;
  } finally {
    if (!work.parked) work.endCaller?.();
  }
}

async function answerList(answerOptions: AnswerOptions, job: Job, member: string): Promise<JsonObject | undefined> {
  const { request } = job.envelope;
  const cursor = request.params["cursor"];
  const whose = listOwner(job.era, job.client.identity);
  const parked = typeof cursor === "string" ? answerOptions.parking.lists.take(listPlace(whose, request.method, cursor)) : undefined;
  takeOver(job.held, parked?.held);
  const from: Rest = parked?.rest ?? { replies: answerOptions.service.call(request, { ...job.context, onePage: true }) };
  if (parked !== undefined) job.cancel.on(() => void parked.rest.replies.return());
  const { pageSize } = job.envelope;
  const size =
    pageSize === undefined
      ? answerOptions.pageSize
      : { ...answerOptions.pageSize, items: Math.min(pageSize, answerOptions.pageSize.items) };
  const cut = await cutPage(from, size, (reply) => pass(job, reply)).catch((error) => {
    void from.replies.return();
    throw error;
  });
  if (cut === undefined) return undefined;
  if (cut.cursor !== undefined) return extended(cut.rest, { [member]: cut.items, nextCursor: cut.cursor });
  if (cut.more === undefined) return extended(cut.rest, { [member]: cut.items });
  const token = randomToken();
  const list: ParkedList = { rest: cut.more, held: undefined };
  keep(job, answerOptions.parking.lists, listPlace(whose, request.method, token), list);
  if (!job.cancel.fired) list.held = job.held.handOver();
  return extended(cut.rest, { [member]: cut.items, nextCursor: token });
}

async function answerPlain(answerOptions: AnswerOptions, job: Job, work: Work): Promise<JsonObject | undefined> {
  for (;;) {
    const step = await work.step();
    if (step === WAITING) {
      const required = await inputRequired(answerOptions, job, work);
      if (required !== undefined) return required;
      continue;
    }
    if (step.done === true) return undefined;
    const reply = step.value;
    if (reply.kind === "result") {
      if (askAndContinue(answerOptions, job, work, reply.value)) continue;
      return reply.value;
    }
    const waiting = handle(job, work, reply);
    if (waiting !== undefined) await waiting;
  }
}
