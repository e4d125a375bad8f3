import { Fault } from "../core/index.js";
import { concat } from "../stream/index.js";

/** Why a request has no answer, or not all of one. A page is not told more than that. */
export function unreached(cause: unknown, url: string): Fault {
  if (cause instanceof Fault) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Fault("unavailable", `cannot reach ${new URL(url).origin}: ${why}`, { cause, data: { reason: "failed" } });
}

/** Bytes that are given on at a time. A page that was busy gets megabytes at once, and their reader could not be held up in between. */
const PIECE = 64 * 1024;

/** The bytes of an answer as they come. Leaving the loop ends the request. */
export async function* bodyOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read())
      for (let at = 0; at < step.value.byteLength; at += PIECE) yield step.value.subarray(at, at + PIECE);
  } catch (cause) {
    throw new Fault("unavailable", "the server closed the connection", { cause, data: { reason: "closed" } });
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** All of an answer, if it is not larger than a message may be. */
export async function wholeOf(bytes: AsyncIterable<Uint8Array>, max: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.byteLength;
    if (length > max) throw new Fault("overload", "the answer is larger than a message may be", { data: { limit: "messageBytes", max } });
    chunks.push(chunk);
  }
  return concat(chunks);
}
