import { Fault, isObject, type JsonObject, type Reply, requiresInput, WHOLE_PART, weigh } from "../../core/index.js";
import { decodeBase64, encodeBase64 } from "../../stream/index.js";
import { PART_BYTES } from "../keys.js";
import type { AnswerOptions, Job } from "./answer-options.js";
import { askAndContinue } from "./ask-and-continue.js";
import { handle, inputRequired } from "./asking.js";
import { gatherOrder, gatherTurn, TURN_BYTES } from "./gather-turns.js";
import { repliesOf, WAITING, type Work } from "./work.js";

/** Contents above this size are cut even if a handler returned them whole. */
const WHOLE_BYTES = 512 * 1024;

/** Bytes that are gathered before a link that can write parts begins to write them. */
const GATHERED_BYTES = 256 * 1024;

const STREAMED = "Read it in parts: with an Anywire client, by ReadResourceChunked over gRPC, or over Streamable HTTP";

/** A read for a peer that does not know parts: everything in one result, up to the size of one message, or written as it comes. */
export async function answerWhole(answerOptions: AnswerOptions, job: Job, work: Work): Promise<JsonObject | undefined> {
  let writing = false;
  const turns = { order: 0, at: 0 };
  for (;;) {
    const step = await work.step();
    if (step === WAITING) return inputRequired(answerOptions, job, work);
    if (step.done === true) return undefined;
    const reply = step.value;
    if (reply.kind === "result") {
      if (writing) return complete(reply.value);
      if (askAndContinue(answerOptions, job, work, reply.value)) continue;
      if (!work.contents.empty) {
        // Joining it into one value takes as long as gathering much of it, so it takes a turn too.
        if (turns.order > 0) await gatherTurn(turns.order);
        return { ...reply.value, contents: work.contents.whole() };
      }
      const pieces = largeContentsAndChunks(reply.value);
      if (pieces === undefined || !readsInParts(answerOptions, job)) return reply.value;
      writing = true;
      work.over(repliesOf(pieces));
    } else if (!writing) {
      if (!work.contents.take(reply)) await handle(job, work, reply);
      gathered(job, work);
      if (work.contents.weight > Math.min(GATHERED_BYTES, answerOptions.limits.messageBytes * 0.7))
        writing = await begin(answerOptions, job, work);
      if (!writing && work.contents.weight > turns.at + TURN_BYTES) {
        turns.at = work.contents.weight;
        if (turns.order === 0) turns.order = gatherOrder();
        await gatherTurn(turns.order);
      }
    } else if (reply.kind === "content" || reply.kind === "chunk") await job.sink.part(reply);
    else if (reply.kind === "ask" && job.asks === undefined) reply.ask.refuse(begun());
    else await handle(job, work, reply);
  }
}

/** Counts what was gathered. A call that gathers too much fails alone, and the fault says how to avoid that. */
function gathered({ held }: Job, { contents }: Work): void {
  if (contents.weight <= held.bytes) return;
  const fault = held.grow(contents.weight + PART_BYTES, WHOLE_PART);
  if (fault === undefined) return;
  throw new Fault("overload", `the resource cannot be gathered for one answer: ${fault.message}. ${STREAMED}`, { data: fault.data });
}

/** Writes what was gathered, if the link can do that now. Otherwise gathering continues, up to a limit. */
async function begin(answerOptions: AnswerOptions, job: Job, work: Work): Promise<boolean> {
  const writing = work.asks.size === 0 && readsInParts(answerOptions, job);
  if (writing) for (const part of work.contents.drain()) await job.sink.part(part);
  if (work.contents.weight > answerOptions.limits.messageBytes * 0.7)
    throw new Fault("overload", `the resource is too large for one message. ${STREAMED}`, {
      data: { limit: "messageBytes", max: answerOptions.limits.messageBytes },
    });
  return writing;
}

/** Whether the link can write the answer to this read in parts now. */
export function readsInParts(answerOptions: AnswerOptions, { id, envelope }: Job): boolean {
  return answerOptions.traits.inParts("resources/read", { id, asked: envelope.chunked !== undefined });
}

/** The rest of a result whose contents were already written. */
function complete(result: JsonObject): JsonObject {
  if (requiresInput(result)) throw begun();
  return result;
}

function begun(): Fault {
  return new Fault("invalid-request", "a read that has begun cannot ask its client");
}

/** A result as contents and chunks; undefined if it has none, or cannot be cut without loss. */
export function contentsAndChunks(result: JsonObject): Reply[] | undefined {
  const { contents, ...rest } = result;
  if (!Array.isArray(contents) || contents.length === 0) return undefined;
  const replies: Reply[] = [];
  for (const content of contents) {
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

/** The same, but only for a result that is large enough to hold up a link. */
export function largeContentsAndChunks(result: JsonObject): Reply[] | undefined {
  return weigh(result["contents"]) > WHOLE_BYTES ? contentsAndChunks(result) : undefined;
}

/** Undefined if encoding the bytes again would not give the same text. */
function octets(blob: string): Uint8Array | undefined {
  try {
    const data = decodeBase64(blob);
    return encodeBase64(data) === blob ? data : undefined;
  } catch {
    return undefined;
  }
}
