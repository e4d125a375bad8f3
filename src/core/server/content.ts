import { DEFAULT_CHUNK_BYTES, LARGEST_CHUNK_BYTES } from "../chunk-size.js";
import { Fault } from "../fault.js";
import type { JsonObject } from "../json.js";
import type { Context, Reply } from "../service.js";
import { cutBytes, endsInHigh, stretch, textPieces } from "./text.js";

/** The range that a read asks for, checked. */
export interface WantedRange {
  readonly offset: number;
  readonly chunkSize: number;
}

export function wanted({ range }: Context): WantedRange {
  const { offset = 0, chunkSize = DEFAULT_CHUNK_BYTES } = range ?? {};
  if (!Number.isSafeInteger(offset) || offset < 0) throw new Fault("invalid-params", "range.offset: must be a whole number from 0");
  if (!Number.isSafeInteger(chunkSize) || chunkSize < 1)
    throw new Fault("invalid-params", "range.chunkSize: must be a whole number from 1");
  return { offset, chunkSize: Math.min(chunkSize, LARGEST_CHUNK_BYTES) };
}

/** Where the data lies in its resource, in bytes. */
export interface Extent {
  readonly start: number;
  readonly size: number | undefined;
}

/**
 * Turns the chunks of one content into replies. It skips what lies before the wanted offset, cuts what is too long, and begins the content
 * once its form is known. Between two chunks it holds at most half a code point.
 */
export class ContentWriter {
  readonly #head: JsonObject;
  readonly #extent: Extent;
  readonly #chunkSize: number;
  #skip: number;
  #at: number;
  #form: "text" | "blob" | undefined;
  #begun = false;
  #half = "";

  constructor(head: JsonObject, extent: Extent, want: WantedRange) {
    this.#head = head;
    this.#extent = extent;
    this.#chunkSize = want.chunkSize;
    this.#at = extent.start;
    this.#skip = Math.max(0, want.offset - extent.start);
  }

  *write(chunk: string | Uint8Array): Generator<Reply> {
    const form = typeof chunk === "string" ? "text" : "blob";
    this.#form ??= form;
    if (form !== this.#form) throw new Fault("internal", "a content mixes text and bytes");
    const kept = typeof chunk === "string" ? this.#skipText(this.#whole(chunk)) : this.#skipBytes(chunk);
    yield* this.#pieces(kept);
  }

  *end(): Generator<Reply> {
    const half = this.#half;
    this.#half = "";
    yield* this.#pieces(this.#skipText(half));
    if (!this.#begun) yield this.#begin();
  }

  *#pieces(kept: string | Uint8Array): Generator<Reply> {
    if (kept.length === 0) return;
    if (!this.#begun) yield this.#begin();
    if (typeof kept === "string") for (const data of textPieces(kept, this.#chunkSize)) yield { kind: "chunk", data };
    else for (const data of cutBytes(kept, this.#chunkSize)) yield { kind: "chunk", data };
  }

  #begin(): Reply {
    this.#begun = true;
    const { size } = this.#extent;
    const form = this.#form ?? emptyForm(this.#head["mimeType"]);
    return { kind: "content", form, head: this.#head, offset: this.#at, ...(size === undefined ? {} : { size }) };
  }

  /** Keeps the first half of a surrogate pair whose second half is in the next chunk. */
  #whole(chunk: string): string {
    const text = this.#half + chunk;
    if (!endsInHigh(text)) {
      this.#half = "";
      return text;
    }
    this.#half = text.slice(-1);
    return text.slice(0, -1);
  }

  #skipBytes(chunk: Uint8Array): Uint8Array {
    if (this.#skip === 0) return chunk;
    const skipped = Math.min(this.#skip, chunk.byteLength);
    this.#skip -= skipped;
    this.#at += skipped;
    return chunk.subarray(skipped);
  }

  #skipText(text: string): string {
    if (this.#skip === 0 || text === "") return text;
    const { end, bytes } = stretch(text, 0, this.#skip);
    // An offset inside a code point means the whole code point. The content's offset says so.
    this.#skip = end < text.length ? 0 : this.#skip - bytes;
    this.#at += bytes;
    return text.slice(end);
  }
}

/** The form of a content without any chunk, judged by its type. */
function emptyForm(mimeType: unknown): "text" | "blob" {
  return typeof mimeType !== "string" || /^text\/|[/+](json|xml|javascript)\b/.test(mimeType) ? "text" : "blob";
}
