import {
  type AnswerPart,
  type Id,
  type IncomingPart,
  type IncomingResult,
  parseMessage,
  scanner,
  WHOLE_BYTES,
} from "../../../codec/index.js";
import { Fault, type Limits } from "../../../core/index.js";
import type { Sent } from "../../../io/index.js";
import { Pieces } from "../../../stream/index.js";
import { caughtUp, type HeldReader } from "./events.js";

/** Bytes of data that are passed on at a time. */
const BATCH = 32 * 1024;

export interface LargeReadOptions {
  readonly id: Id;
  readonly limits: Limits;
  readonly open: HeldReader;
  readonly take: (parts: readonly IncomingPart[]) => Promise<void>;
}

/** Reads the JSON answer to a read: as text, or, if it is large, as parts and then the rest of its result. */
export async function readLarge(sent: Sent, options: LargeReadOptions): Promise<string | IncomingResult> {
  const { id, limits } = options;
  const max = limits.messageBytes;
  let held: Pieces | undefined = new Pieces();
  let looked = false;
  const scanned = scanner({ maxBytes: max, depth: limits.depth });
  for await (const chunk of sent.body) {
    if (held === undefined) {
      await give(scanned.push(chunk), options);
      continue;
    }
    held.push(chunk);
    if (held.bytes > Math.min(WHOLE_BYTES, max) && !looked) {
      looked = true;
      const found = attempt(() => held?.all().flatMap((each) => scanned.push(each)) ?? []);
      // An answer of another shape is held whole, up to the limit of a message.
      if (Array.isArray(found)) {
        held = undefined;
        await give(found, options);
      }
    }
    if (held !== undefined && held.bytes > max)
      throw new Fault("overload", "the answer is larger than a message may be", { data: { limit: "messageBytes", max } });
  }
  if (held !== undefined) return text(held.whole());
  const message = parseMessage(text(scanned.finish()), { depth: limits.depth });
  if (message.kind !== "result" || message.id !== id) throw new Fault("parse", "the server's answer is not a message");
  const { contents, ...rest } = message.value;
  return { ...message, value: rest };
}

function attempt(scan: () => AnswerPart[]): AnswerPart[] | Fault {
  try {
    return scan();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** Passes parts on, no faster than they are read. */
async function give(parts: readonly AnswerPart[], { id, open, take }: LargeReadOptions): Promise<void> {
  let batch: IncomingPart[] = [];
  let weight = 0;
  for (const [at, part] of parts.entries()) {
    batch.push({ kind: "part", id, part });
    weight += part.kind === "chunk" ? part.data.length : 64;
    if (weight < BATCH && at < parts.length - 1) continue;
    await take(batch);
    batch = [];
    weight = 0;
    // The reader gets it within this turn, and says whether it has fallen behind.
    await new Promise((resolve) => setImmediate(resolve));
    await caughtUp(open);
  }
}

function text(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Fault("parse", "the answer is not UTF-8", { cause: error });
  }
}
