import { cutText, decodeBase64, utf8Length } from "../../stream/index.js";
import { DEFAULT_CHUNK_BYTES } from "../chunk-size.js";
import { Fault } from "../fault.js";
import type { JsonObject } from "../json.js";
import type { Reply } from "../service.js";
import { wholeContents } from "./collect.js";

/** A part of a resource as it arrives. Offsets and sizes count bytes; text counts as UTF-8. */
export interface ResourceChunk {
  readonly uri: string;
  readonly mimeType?: string;
  readonly data: string | Uint8Array;
  /** Where in the resource `data` starts. If a resource has several contents, the offset runs on from one to the next. */
  readonly offset: number;
  /** Bytes of the whole resource, if the server says. */
  readonly size?: number;
}

/** Cuts the replies of a read into parts that start at `offset`, whether or not the server has skipped anything itself. */
export class Cutter {
  readonly #uri: string;
  readonly #chunkSize: number | undefined;
  /** Data before this offset is skipped. */
  readonly #from: number;
  #at = 0;
  #head: JsonObject = {};
  #size: number | undefined;

  constructor(uri: string, offset: number, chunkSize: number | undefined) {
    this.#uri = uri;
    this.#from = offset;
    this.#chunkSize = chunkSize;
  }

  /** The part that a chunk is, where nothing of it is cut off. Generators would cost more than the rest of its way. */
  whole(reply: Reply): ResourceChunk | undefined {
    if (reply.kind !== "chunk" || typeof reply.data === "string" || this.#at < this.#from) return undefined;
    const { length } = reply.data;
    if (length === 0 || length > (this.#chunkSize ?? length)) return undefined;
    this.#at += length;
    return this.#chunk(reply.data, this.#at - length);
  }

  /** The parts of one reply, each made when it is taken. */
  *cut(reply: Reply): Generator<ResourceChunk, void, undefined> {
    if (reply.kind === "content") {
      this.#head = reply.head;
      this.#size = reply.size;
      if (reply.offset !== undefined) this.#at = reply.offset;
    } else if (reply.kind === "chunk") yield* this.#parts(reply.data, this.#chunkSize ?? Number.POSITIVE_INFINITY);
    else if (reply.kind === "result") for (const content of wholeContents(reply.value)) yield* this.#whole(content);
  }

  *#whole(content: JsonObject): Generator<ResourceChunk, void, undefined> {
    const { text, blob, ...head } = content;
    this.#head = head;
    this.#size = undefined;
    const size = this.#chunkSize ?? DEFAULT_CHUNK_BYTES;
    if (typeof text === "string") yield* this.#parts(text, size);
    else if (typeof blob === "string") yield* this.#parts(octetsOf(blob), size);
  }

  *#parts(data: string | Uint8Array, most: number): Generator<ResourceChunk, void, undefined> {
    for (let rest = data; rest.length > 0; ) {
      const skipping = this.#from - this.#at;
      const [head, tail] = cut(rest, skipping > 0 ? skipping : most);
      const offset = this.#at;
      this.#at += typeof head === "string" ? utf8Length(head) : head.length;
      if (skipping <= 0) yield this.#chunk(head, offset);
      rest = tail;
    }
  }

  #chunk(data: string | Uint8Array, offset: number): ResourceChunk {
    const { uri, mimeType } = this.#head;
    // Without spreads, which take as long as everything else here.
    const chunk: { -readonly [Member in keyof ResourceChunk]: ResourceChunk[Member] } = {
      uri: typeof uri === "string" ? uri : this.#uri,
      data,
      offset,
    };
    if (typeof mimeType === "string") chunk.mimeType = mimeType;
    if (this.#size !== undefined) chunk.size = this.#size;
    return chunk;
  }
}

function cut(data: string | Uint8Array, most: number): readonly [head: string | Uint8Array, tail: string | Uint8Array] {
  return typeof data === "string" ? cutText(data, most) : [data.subarray(0, most), data.subarray(Math.min(most, data.length))];
}

function octetsOf(base64: string): Uint8Array {
  try {
    return decodeBase64(base64);
  } catch (error) {
    throw new Fault("invalid-request", "the server sent a blob that is not base64", { cause: error });
  }
}
