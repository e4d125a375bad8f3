import type { JsonObject, Reply } from "../../core/index.js";
import { cutText } from "../../stream/index.js";
import { RANGE_BYTES } from "../keys.js";
import { sizeOf } from "../size.js";
import { again } from "./again.js";
import { handle, inputRequired, pass } from "./asking.js";
import type { Desk, Job } from "./desk.js";
import { explode } from "./read.js";
import { repliesOf, WAITING, type Work } from "./work.js";

/** Answers a list or a read piece by piece, as its service makes it; the result has what is left. */
export async function answerParts(desk: Desk, job: Job, work: Work): Promise<JsonObject | undefined> {
  const read = job.envelope.request.method === "resources/read";
  const chunkSize = job.envelope.chunked?.chunkSize ?? RANGE_BYTES;
  for (;;) {
    const step = await work.step();
    if (step === WAITING) return inputRequired(desk, job, work);
    if (step.done === true) return undefined;
    const reply: Reply = step.value;
    let waiting: Promise<void> | undefined;
    switch (reply.kind) {
      case "result": {
        if (await again(desk, job, work, reply.value)) continue;
        // What a handler gave whole goes the way of everything else, unless something of it would be lost.
        const pieces = read ? explode(reply.value) : undefined;
        if (pieces === undefined) return reply.value;
        work.over(repliesOf(pieces));
        continue;
      }
      case "item":
      case "page":
      case "content":
        waiting = job.sink.part(reply);
        break;
      case "chunk":
        waiting = sendChunk(job, reply.data, chunkSize);
        break;
      default:
        waiting = read ? handle(job, work, reply) : pass(job, reply);
    }
    if (waiting !== undefined) await waiting;
  }
}

/** A chunk, in pieces that do not hold up the neighbours on a shared link. */
function sendChunk(job: Job, data: string | Uint8Array, size: number): Promise<void> | undefined {
  // Counting all of a long text, only to find that it is too long, would cost more than the rest.
  if (data.length <= size && sizeOf(data) <= size) return job.sink.part({ kind: "chunk", data });
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
