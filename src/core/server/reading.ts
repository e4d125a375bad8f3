import { overtime } from "../../stream/index.js";
import { Fault } from "../fault.js";
import { isObject, type JsonObject } from "../json.js";
import type { ReadResourceResult } from "../protocol.js";
import type { Context, Reply } from "../service.js";
import { ContentWriter, type WantedRange, wanted } from "./content.js";
import { YieldedReplies } from "./run.js";
import { isSource, pull, type Source } from "./source.js";
import { stretch } from "./text.js";
import type { Yield } from "./yields.js";

/** Text or bytes. The server must not write into the bytes after it has given them away. */
export type Chunk = string | Uint8Array;

/** One content of a resource. Other members are sent to the client as they are. */
export interface Part {
  readonly data: Chunk | Source<Chunk | Yield>;
  /** The URI of this content, where it differs from that of the resource. */
  readonly uri?: string;
  readonly mimeType?: string;
  /** Bytes of the whole content, if known. */
  readonly size?: number;
  /** The byte at which `data` starts: a reader that seeks says so here. */
  readonly offset?: number;
  readonly [member: string]: unknown;
}

/**
 * What a reader may return: the data, a stream of it, several contents, or a whole result. Text counts in bytes of UTF-8. Each of several
 * contents starts at its beginning, whatever range was asked for. Undefined: there is no such resource.
 */
export type ReadResult =
  | Chunk
  | Part
  | Source<Chunk | Part | Yield>
  | ReadResourceResult
  | { readonly resultType: string; readonly [member: string]: unknown }
  | undefined;

/**
 * The steps of a read. `head` is what every content begins with; `rest` goes into a complete result. Generators are not nested here,
 * because each generator that a chunk passes through costs as much as the rest of its way.
 */
export function reading(
  given: Exclude<ReadResult, undefined>,
  head: JsonObject,
  context: Context,
  rest: JsonObject,
): AsyncGenerator<Reply, JsonObject, undefined> {
  const reader = new ContentReader(head, context, rest);
  if (isChunk(given)) return reader.part({ data: given }, reader.want);
  if (Array.isArray(given) && given.length === 1 && isPart(given[0])) return reader.part(given[0], reader.want);
  if (isSource(given)) return reader.stream(given, { data: given as Source<Chunk> }, reader.want, !Array.isArray(given));
  if ("contents" in given) return whole({ ...rest, ...given });
  if ("resultType" in given) return whole(given);
  if (isPart(given)) return reader.part(given, reader.want);
  throw new Fault("internal", "a reader returned something that is not a content");
}

// biome-ignore lint/correctness/useYield: a result without replies before it
async function* whole(result: JsonObject): AsyncGenerator<Reply, JsonObject, undefined> {
  return result;
}

type Steps = AsyncGenerator<Reply, JsonObject, undefined>;

class ContentReader {
  readonly want: WantedRange;
  readonly #head: JsonObject;
  readonly #context: Context;
  readonly #rest: JsonObject;
  readonly #outlet: YieldedReplies;

  constructor(head: JsonObject, context: Context, rest: JsonObject) {
    this.#head = head;
    this.#context = context;
    this.#rest = rest;
    this.#outlet = new YieldedReplies(context);
    this.want = wanted(context);
  }

  part(part: Part, want: WantedRange): Steps {
    return isChunk(part.data) ? this.#single(part, part.data, want) : this.stream(part.data, part, want, true);
  }

  async *#single(part: Part, data: Chunk, want: WantedRange): Steps {
    const writer = this.#writer(part, want);
    for (const reply of writer.write(data)) yield reply;
    for (const reply of writer.end()) yield reply;
    return this.#rest;
  }

  /** Chunks make up the content of `part`; parts among them are separate contents. `content`: there is a content even without chunks. */
  async *stream(source: Source<unknown>, part: Part, want: WantedRange, content: boolean): Steps {
    const pulled = pull(source, this.#context.cancel);
    let writer: ContentWriter | undefined;
    let empty = content;
    try {
      for (let round = 1; ; round++) {
        const rest = overtime(round);
        if (rest !== undefined) await rest;
        const step = await pulled.next();
        if (step.done === true) break;
        const element = step.value;
        if (isChunk(element)) {
          writer ??= this.#writer(part, want);
          for (const reply of writer.write(element)) yield reply;
        } else if (isPart(element)) {
          if (writer !== undefined) for (const reply of writer.end()) yield reply;
          writer = undefined;
          empty = false;
          yield* this.part(element, { ...want, offset: 0 });
        } else {
          const reply = this.#outlet.reply(element as Yield);
          if (reply !== undefined) yield reply;
        }
      }
      if (writer === undefined && empty) writer = this.#writer(part, want);
      if (writer !== undefined) for (const reply of writer.end()) yield reply;
      return this.#rest;
    } finally {
      pulled.close();
    }
  }

  #writer(part: Part, want: WantedRange): ContentWriter {
    const { data, offset: start = 0, size, ...members } = part;
    const known = size ?? (isChunk(data) ? start + octets(data) : undefined);
    return new ContentWriter({ ...this.#head, ...members }, { start, size: known }, want);
  }
}

function isChunk(value: unknown): value is Chunk {
  return typeof value === "string" || value instanceof Uint8Array;
}

function isPart(value: unknown): value is Part {
  return isObject(value) && "data" in value && !("kind" in value);
}

function octets(data: Chunk): number {
  return typeof data === "string" ? stretch(data, 0, Number.MAX_SAFE_INTEGER).bytes : data.byteLength;
}
