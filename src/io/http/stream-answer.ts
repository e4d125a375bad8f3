import type { IncomingHttpHeaders } from "node:http2";
import { Fault } from "../../core/index.js";
import type { Sent } from "./sent.js";

/** Pauses, resumes or leaves the stream of an answer. */
export interface AnswerStream {
  pause(): void;
  resume(): void;
  leave(): void;
}

/** Bytes that may wait for the reader before the stream is paused. */
const HELD = 256 * 1024;

/** An answer whose body is passed on in the pieces that arrive. A Node stream would join and copy them. */
export class StreamAnswer implements Sent {
  readonly status: number;
  readonly #headers: IncomingHttpHeaders;
  readonly #stream: AnswerStream;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #end: { readonly fault?: Fault } | undefined;
  #wake: (() => void) | undefined;

  constructor(headers: IncomingHttpHeaders, stream: AnswerStream) {
    this.status = Number(headers[":status"]);
    this.#headers = headers;
    this.#stream = stream;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  beat(): void {}

  /** Takes bytes that have arrived. */
  push(bytes: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > HELD) this.#stream.pause();
    this.#wake?.();
  }

  /** Ends the answer: it is complete, or it failed with the fault. */
  end(fault?: Fault): void {
    this.#end ??= fault === undefined ? {} : { fault };
    this.#wake?.();
  }

  get body(): AsyncIterable<Uint8Array> {
    return this.#read();
  }

  async text(maxBytes: number): Promise<string> {
    const all: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of this.#read()) {
      bytes += piece.length;
      all.push(piece);
      if (bytes > maxBytes)
        throw new Fault("overload", "the answer is larger than a message may be", { data: { limit: "messageBytes", max: maxBytes } });
    }
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(all.length === 1 ? all[0] : Buffer.concat(all));
    } catch (cause) {
      throw new Fault("parse", "the answer is not UTF-8", { cause });
    }
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const pieces = this.#pieces;
        this.#pieces = [];
        this.#bytes = 0;
        if (pieces.length > 0) this.#stream.resume();
        yield* pieces;
        if (this.#pieces.length > 0) continue;
        if (this.#end !== undefined) break;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
      if (this.#end.fault !== undefined) throw this.#end.fault;
    } finally {
      this.#pieces = [];
      if (this.#end === undefined) this.#stream.leave();
    }
  }
}
