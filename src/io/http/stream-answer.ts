import { Fault } from "../../core/index.js";
import { allocateGarbage, PIECE_BYTES, Pieces } from "../../stream/index.js";
import { answerText } from "./answer-text.js";
import type { Sent } from "./sent.js";

/** Pauses, resumes or leaves the stream of an answer. */
export interface AnswerStream {
  pause(): void;
  resume(): void;
  leave(): void;
  /** Notes a sign of life. */
  beat?(): void;
}

export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Bytes that may wait for the reader before the stream is paused. Each piece counts as some more. */
const HELD = 256 * 1024;

type PieceStep = IteratorResult<Uint8Array, undefined>;
const DONE: PieceStep = { done: true, value: undefined };

/** An answer whose body is passed on in the pieces that arrive. A Node stream would join and copy them, and a generator costs more. */
export class StreamAnswer implements Sent, AsyncIterator<Uint8Array, undefined> {
  readonly status: number;
  readonly #headers: AnswerHeaders;
  readonly #stream: AnswerStream;
  #pieces: Uint8Array[] = [];
  #first = 0;
  #bytes = 0;
  #end: { readonly fault?: Fault } | undefined;
  #reader: { resolve(step: PieceStep): void; reject(fault: Fault): void } | undefined;

  constructor(status: number, headers: AnswerHeaders, stream: AnswerStream) {
    this.status = status;
    this.#headers = headers;
    this.#stream = stream;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return typeof value === "object" ? value.join(", ") : value;
  }

  beat(): void {
    this.#stream.beat?.();
  }

  /** Bytes that wait for the reader. */
  get unread(): number {
    return this.#bytes;
  }

  /** Takes bytes that have arrived. */
  push(bytes: Uint8Array): void {
    if (this.#end !== undefined) return;
    allocateGarbage(bytes.length);
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      return reader.resolve({ done: false, value: bytes });
    }
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes + this.#pieces.length * PIECE_BYTES > HELD) this.#stream.pause();
  }

  /** Ends the answer: it is complete, or it failed with the fault. */
  end(fault?: Fault): void {
    if (this.#end !== undefined) return;
    this.#end = fault === undefined ? {} : { fault };
    if (fault === undefined) this.#reader?.resolve(DONE);
    else this.#reader?.reject(fault);
    this.#reader = undefined;
  }

  get body(): AsyncIterable<Uint8Array> {
    return { [Symbol.asyncIterator]: () => this };
  }

  async text(maxBytes: number): Promise<string> {
    const all = new Pieces();
    for (;;) {
      // A small answer has usually come with its headers.
      const piece = this.take() ?? (this.#end !== undefined && this.#end.fault === undefined ? undefined : (await this.next()).value);
      if (piece === undefined) break;
      all.push(piece);
      if (all.bytes <= maxBytes) continue;
      await this.return();
      throw new Fault("overload", "the answer is larger than a message may be", { data: { limit: "messageBytes", max: maxBytes } });
    }
    return answerText(all.whole(), this.header("content-encoding"));
  }

  take(): Uint8Array | undefined {
    const piece = this.#pieces[this.#first];
    if (piece === undefined) return undefined;
    if (++this.#first === this.#pieces.length) {
      this.#pieces = [];
      this.#first = this.#bytes = 0;
      this.#stream.resume();
    }
    return piece;
  }

  next(): Promise<PieceStep> {
    const value = this.take();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#end?.fault !== undefined) return Promise.reject(this.#end.fault);
    if (this.#end !== undefined) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  return(): Promise<PieceStep> {
    this.#pieces = [];
    this.#first = 0;
    if (this.#end === undefined) this.#stream.leave();
    return Promise.resolve(DONE);
  }
}
