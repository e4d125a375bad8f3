import type { Part } from "../../codec/index.js";
import { type ChunkReply, type ContentReply, extended, Fault, type JsonObject, weigh } from "../../core/index.js";
import { concat, encodeBase64 } from "../../stream/index.js";
import { sizeOf } from "../size.js";

interface Piece {
  readonly reply: ContentReply;
  /** Whether the content begins in this piece. */
  readonly start: boolean;
  readonly texts: string[];
  readonly blobs: Uint8Array[];
}

/** Gathers contents and chunks into the `contents` of a JSON result. */
export class Contents {
  #pieces: Piece[] = [];
  #last: ContentReply | undefined;
  #heads = 0;
  /** Of the data alone. */
  bytes = 0;

  /** Of everything. */
  get weight(): number {
    return this.#heads + this.bytes;
  }

  get empty(): boolean {
    return this.#pieces.length === 0;
  }

  begin(reply: ContentReply): void {
    this.#open(reply, true);
  }

  add(data: ChunkReply["data"]): void {
    if (this.#last === undefined) throw new Fault("internal", "a chunk came before its content");
    const piece = this.#pieces.at(-1) ?? this.#open(this.#last, false);
    if (typeof data === "string") piece.texts.push(data);
    else piece.blobs.push(data);
    this.bytes += sizeOf(data);
  }

  /** What was gathered, and what says which part of the resource it is. `octets`: as they are, not in base64. */
  take(octets: boolean): { readonly contents: readonly JsonObject[]; readonly pieces: readonly JsonObject[] } {
    const taken = this.#pieces;
    this.#pieces = [];
    this.bytes = this.#heads = 0;
    const pieces = octets ? taken.flatMap(single) : taken;
    return { contents: pieces.map((piece) => content(piece, octets)), pieces: pieces.map(describe) };
  }

  /** What was gathered, as it came. */
  drain(): Part[] {
    const taken = this.#pieces;
    this.#pieces = [];
    this.bytes = this.#heads = 0;
    return taken.flatMap(({ reply, texts, blobs }) => [reply, ...[...texts, ...blobs].map((data): Part => ({ kind: "chunk", data }))]);
  }

  #open(reply: ContentReply, start: boolean): Piece {
    this.#last = reply;
    const piece: Piece = { reply, start, texts: [], blobs: [] };
    this.#pieces.push(piece);
    this.#heads += weigh(reply.head);
    return piece;
  }
}

/** A piece for each chunk of octets: joining them would copy them. */
function single(piece: Piece): Piece | readonly Piece[] {
  const { blobs } = piece;
  if (blobs.length < 2) return piece;
  return blobs.map((blob, at) => ({ ...piece, start: piece.start && at === 0, blobs: [blob] }));
}

function content({ reply, texts, blobs }: Piece, octets: boolean): JsonObject {
  if (reply.form === "none") return reply.head;
  if (reply.form === "text") return extended(reply.head, { text: texts.join("") });
  const bytes = concat(blobs);
  return extended(reply.head, { blob: octets ? bytes : encodeBase64(bytes) });
}

function describe({ reply, start }: Piece): JsonObject {
  const piece: Record<string, unknown> = { form: reply.form, start };
  if (reply.offset !== undefined) piece["offset"] = reply.offset;
  if (reply.size !== undefined) piece["size"] = reply.size;
  return piece;
}
