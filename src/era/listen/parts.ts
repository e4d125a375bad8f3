import type { AnswerPart } from "../../codec/index.js";
import { type JsonObject, listMembers, type Reply, requiresInput } from "../../core/index.js";
import { cutText } from "../../stream/index.js";
import { PART_BYTES } from "../keys.js";
import { dataSize } from "../size.js";
import type { AnswerOptions, Job } from "./answer-options.js";
import { askAndContinue } from "./ask-and-continue.js";
import { handle, inputRequired, pass } from "./asking.js";
import { contentsAndChunks, largeContentsAndChunks } from "./read.js";
import { repliesOf, WAITING, type Work } from "./work.js";

/** On a link of messages, a read of up to this many bytes is sent as one message. */
const SMALL_BYTES = 32 * 1024;

/** Answers a list or a read piece by piece, as its service makes it. The result has the remaining members. */
export async function answerParts(answerOptions: AnswerOptions, job: Job, work: Work): Promise<JsonObject | undefined> {
  const { request, chunked } = job.envelope;
  const read = !listMembers.has(request.method);
  /** Whether the link always carries this answer in parts, so that gathering would save no messages. */
  const carried = answerOptions.traits.inParts(request.method);
  const chunkSize = Math.min(chunked?.chunkSize ?? PART_BYTES, carried ? Number.POSITIVE_INFINITY : PART_BYTES);
  // An answer that begins at an offset has to say so, and one that continues after a question is not whole. A plain result can express
  // neither.
  let gathering = read && !carried && !answerOptions.traits.bytes && chunked?.offset === 0 && !work.contents.begun;
  for (;;) {
    const step = work.contents.empty ? await work.step() : await work.soon();
    if (step !== WAITING && step.done === true) return undefined;
    const reply: Reply | undefined = step === WAITING ? undefined : step.value;
    if (gathering && reply !== undefined && work.contents.take(reply) && work.contents.weight <= SMALL_BYTES) continue;
    if (!work.contents.empty) {
      if (reply?.kind === "result" && !requiresInput(reply.value)) return { ...reply.value, contents: work.contents.whole() };
      gathering = false;
      for (const part of work.contents.drain()) await sendPart(job, part, chunkSize);
      if (reply === undefined || reply.kind === "content" || reply.kind === "chunk") continue;
    }
    if (reply === undefined) return inputRequired(answerOptions, job, work);
    let waiting: Promise<void> | undefined;
    switch (reply.kind) {
      case "result": {
        if (askAndContinue(answerOptions, job, work, reply.value)) continue;
        // A result that a handler returned whole is cut too, unless something would be lost.
        const pieces = !read ? undefined : carried ? contentsAndChunks(reply.value) : largeContentsAndChunks(reply.value);
        if (pieces === undefined) return reply.value;
        work.over(repliesOf(pieces));
        continue;
      }
      case "page":
        waiting = sendPart(job, reply, chunkSize);
        if (!reply.own || !job.envelope.onePage) break;
        await waiting;
        work.leave();
        return {};
      case "item":
      case "content":
      case "chunk":
        waiting = sendPart(job, reply, chunkSize);
        break;
      default:
        waiting = read ? handle(job, work, reply) : pass(job, reply);
    }
    if (waiting !== undefined) await waiting;
  }
}

/** Sends a part. A chunk is cut into pieces that do not hold up other calls on a shared link. */
function sendPart(job: Job, part: AnswerPart, size: number): Promise<void> | undefined {
  if (part.kind !== "chunk") return job.sink.part(part);
  const { data } = part;
  // Counting all bytes of a long text only to find that it is too long would cost more than the rest.
  if (data.length <= size && dataSize(data) <= size) return job.sink.part(part);
  return sendPieces(job, data, size);
}

async function sendPieces(job: Job, data: string | Uint8Array, size: number): Promise<void> {
  for (let rest = data; rest.length > 0; ) {
    const [piece, more]: readonly [string | Uint8Array, string | Uint8Array] =
      typeof rest === "string" ? cutText(rest, size) : [rest.subarray(0, size), rest.subarray(size)];
    rest = more;
    const waiting = job.sink.part({ kind: "chunk", data: piece });
    if (waiting !== undefined) await waiting;
    if (job.cancel.fired) return;
  }
}
