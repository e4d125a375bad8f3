import type { AnswerPart } from "../../codec/index.js";
import { type ChunkReply, type ContentReply, extended, Fault, type JsonObject, type Reply, weigh } from "../../core/index.js";
import { concat, encodeBase64 } from "../../stream/index.js";
import { dataSize } from "../size.js";

interface Piece {
  readonly reply: ContentReply;
  readonly texts: string[];
  readonly blobs: Uint8Array[];
}

/** Gathers contents and chunks into the `contents` of a JSON result. */
export class Contents {
  #pieces: Piece[] = [];
  #last: ContentReply | undefined;
  #heads = 0;
  #bytes = 0;

  /** The weight of everything taken so far. */
  get weight(): number {
    return this.#heads + this.#bytes;
  }

  /** Whether a content has begun, at any time. */
  get begun(): boolean {
    return this.#last !== undefined;
  }

  get empty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Takes a content or a chunk; false if the reply is neither. */
  take(reply: Reply): boolean {
    if (reply.kind === "content") this.#open(reply);
    else if (reply.kind === "chunk") this.#add(reply.data);
    else return false;
    return true;
  }

  /** What was gathered, as the `contents` of a result. */
  whole(): readonly JsonObject[] {
    return this.#take().map(content);
  }

  /** What was gathered, as parts. */
  drain(): AnswerPart[] {
    return this.#take().flatMap(({ reply, texts, blobs }) => [
      reply,
      ...[...texts, ...blobs].map((data): AnswerPart => ({ kind: "chunk", data })),
    ]);
  }

  #take(): Piece[] {
    const taken = this.#pieces;
    this.#pieces = [];
    this.#bytes = this.#heads = 0;
    return taken;
  }

  #add(data: ChunkReply["data"]): void {
    if (this.#last === undefined) throw new Fault("internal", "a chunk came before its content");
    const piece = this.#pieces.at(-1) ?? this.#open(this.#last);
    if (typeof data === "string") piece.texts.push(data);
    else piece.blobs.push(data);
    this.#bytes += dataSize(data);
  }

  #open(reply: ContentReply): Piece {
    this.#last = reply;
    const piece: Piece = { reply, texts: [], blobs: [] };
    this.#pieces.push(piece);
    this.#heads += weigh(reply.head);
    return piece;
  }
}

function content({ reply, texts, blobs }: Piece): JsonObject {
  if (reply.form === "none") return reply.head;
  if (reply.form === "text") return extended(reply.head, { text: texts.join("") });
  return extended(reply.head, { blob: encodeBase64(concat(blobs)) });
}
