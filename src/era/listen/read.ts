import { extended, Fault, isObject, type JsonObject, type Reply, weigh } from "../../core/index.js";
import { cutText, decodeBase64, encodeBase64 } from "../../stream/index.js";
import type { Envelope } from "../envelope.js";
import { GREATEST_RANGE, own } from "../keys.js";
import { randomToken } from "../seal.js";
import { sizeOf } from "../size.js";
import { again } from "./again.js";
import { handle, inputRequired } from "./asking.js";
import { type Desk, type Job, keep } from "./desk.js";
import { placeFor } from "./parking.js";
import { repliesOf, WAITING, type Work } from "./work.js";

/** Contents above this that a handler gave whole are cut into ranges all the same. */
const WHOLE_BYTES = 512 * 1024;

/** Bytes that are gathered before a link that can do so begins to write them. */
const GATHERED_BYTES = 256 * 1024;

/** A read for a peer that knows no ranges: everything in one result, as far as one message may go, or written as it comes. */
export async function answerWhole(desk: Desk, job: Job, work: Work): Promise<JsonObject | undefined> {
  let writing = false;
  for (;;) {
    const step = await work.step();
    if (step === WAITING) return inputRequired(desk, job, work);
    if (step.done === true) return undefined;
    const reply = step.value;
    if (reply.kind === "result") {
      if (writing) return complete(reply.value);
      if (await again(desk, job, work, reply.value)) continue;
      if (!work.contents.empty) return { ...reply.value, contents: work.contents.take(false).contents };
      const pieces = weigh(reply.value["contents"]) > WHOLE_BYTES ? explode(reply.value) : undefined;
      if (pieces === undefined || !readsInParts(desk, job)) return reply.value;
      writing = true;
      work.over(repliesOf(pieces));
    } else if (!writing) {
      if (!collect(work, reply)) await handle(job, work, reply);
      if (work.contents.weight > Math.min(GATHERED_BYTES, desk.limits.messageBytes * 0.7)) writing = await begin(desk, job, work);
    } else if (reply.kind === "content" || reply.kind === "chunk") await job.sink.part(reply);
    else if (reply.kind === "ask" && job.asks === undefined) reply.ask.refuse(begun());
    else await handle(job, work, reply);
  }
}

/** Writes what was gathered where the link can do that now; else it goes on being gathered, up to a limit. */
async function begin(desk: Desk, job: Job, work: Work): Promise<boolean> {
  const writing = work.asks.size === 0 && readsInParts(desk, job);
  if (writing) for (const part of work.contents.drain()) await job.sink.part(part);
  if (work.contents.weight > desk.limits.messageBytes * 0.7)
    throw new Fault("overload", "the resource is too large for one message; read it by ranges", {
      data: { limit: "messageBytes", max: desk.limits.messageBytes },
    });
  return writing;
}

/** Whether the link can write the answer to this read in parts now. */
export function readsInParts(desk: Desk, { id, envelope }: Job): boolean {
  return desk.traits.inParts("resources/read", { id, asked: envelope.chunked !== undefined });
}

/** What is left of a result whose contents were written. */
function complete(result: JsonObject): JsonObject {
  if (result["resultType"] === "input_required") throw begun();
  return result;
}

function begun(): Fault {
  return new Fault("invalid-request", "a read that has begun cannot ask its client");
}

/** One range of a read: up to `length` bytes, fewer where the source has no more just now; the rest is parked. */
export async function answerRange(
  desk: Desk,
  job: Job,
  work: Work,
  range: NonNullable<Envelope["range"]>,
): Promise<JsonObject | undefined> {
  const length = Math.min(range.length, GREATEST_RANGE);
  while (work.contents.weight < length) {
    const step = work.contents.bytes === 0 ? await work.step() : await work.soon();
    if (step === WAITING) {
      if (work.asks.size > 0) return inputRequired(desk, job, work);
      break;
    }
    if (step.done === true) return undefined;
    const reply = step.value;
    if (reply.kind === "result") {
      if (await again(desk, job, work, reply.value)) continue;
      if (!work.contents.empty || work.begun) return ranged(desk, reply.value, work);
      const pieces = weigh(reply.value["contents"]) > WHOLE_BYTES ? explode(reply.value) : undefined;
      if (pieces === undefined) return reply.value;
      // A handler gave a large result whole: cut it here, so that it does not hold up the link.
      work.over(repliesOf(pieces));
    } else if (reply.kind === "ask" && !work.contents.empty) {
      // What was read before the ask is answered first, and the ask goes out with the next range.
      work.unread(reply);
      break;
    } else if (reply.kind === "chunk") take(work, reply.data, length - work.contents.bytes);
    else if (!collect(work, reply)) await handle(job, work, reply);
  }
  await work.settled();
  work.begun = true;
  const next = randomToken();
  keep(job, desk.parking.reads, placeFor(job.client.principal, next), work);
  return ranged(desk, {}, work, next);
}

function collect(work: Work, reply: Reply): boolean {
  if (reply.kind === "content") work.contents.begin(reply);
  else if (reply.kind === "chunk") work.contents.add(reply.data);
  else return false;
  return true;
}

/** Adds a chunk, or as much of it as there is room for; the rest is read again. */
function take(work: Work, data: string | Uint8Array, room: number): void {
  // Counting all of a long text, only to find that it is too long, would cost more than the rest.
  if (data.length <= room && sizeOf(data) <= room) return work.contents.add(data);
  if (typeof data === "string") {
    const [head, rest] = cutText(data, room);
    work.contents.add(head);
    if (rest !== "") work.unread({ kind: "chunk", data: rest });
  } else {
    work.contents.add(data.subarray(0, room));
    work.unread({ kind: "chunk", data: data.subarray(room) });
  }
}

function ranged(desk: Desk, result: JsonObject, work: Work, next?: string): JsonObject {
  const { contents, pieces } = work.contents.take(desk.traits.bytes);
  const kept = isObject(result["_meta"]) ? result["_meta"] : undefined;
  const said: Record<string, unknown> = { pieces };
  if (next !== undefined) said["next"] = next;
  if (work.anew) said["anew"] = true;
  work.anew = false;
  return extended(result, { contents, _meta: extended(kept, { [own.range]: said }) });
}

/** A result as the contents and chunks it stands for; undefined if it has none, or cannot be cut without loss. */
export function explode(result: JsonObject): Reply[] | undefined {
  const { contents, ...rest } = result;
  if (!Array.isArray(contents) || contents.length === 0) return undefined;
  const replies: Reply[] = [];
  for (const content of contents as readonly unknown[]) {
    if (!isObject(content) || (content["text"] !== undefined && content["blob"] !== undefined)) return undefined;
    const { text, blob, ...head } = content;
    if (typeof text === "string") replies.push({ kind: "content", form: "text", head }, { kind: "chunk", data: text });
    else if (typeof blob === "string") {
      const data = octets(blob);
      if (data === undefined) return undefined;
      replies.push({ kind: "content", form: "blob", head, size: data.byteLength }, { kind: "chunk", data });
    } else replies.push({ kind: "content", form: "none", head: content });
  }
  return [...replies, { kind: "result", value: rest }];
}

/** Undefined where the octets alone would not bring the same text back. */
function octets(blob: string): Uint8Array | undefined {
  try {
    const data = decodeBase64(blob);
    return encodeBase64(data) === blob ? data : undefined;
  } catch {
    return undefined;
  }
}
