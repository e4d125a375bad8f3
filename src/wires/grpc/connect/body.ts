import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { Fault, type Held } from "../../../core/index.js";
import type { Iteration, IterationStep } from "../../../stream/index.js";
import { timerMs } from "../../../stream/index.js";

export interface BodyOptions {
  /** Milliseconds for the whole body. */
  readonly ms: number;
  /** Counts the body: it is one message, which is held until it is complete. */
  readonly held: Held;
}

export function tooLate(ms: number): Fault {
  return new Fault("deadline", `the body did not arrive within ${ms} ms`, { data: { limit: "messageMs", max: ms } });
}

type BytesStep = IterationStep<Uint8Array>;

/**
 * The body of a request as it is read: if nobody takes it, the client is slowed down. Unlike the request's own iterator, it leaves the
 * connection open when its reader leaves, so that the answer still arrives. The rest is read and dropped.
 */
export class Body implements Iteration<Uint8Array> {
  readonly #request: IncomingMessage | Http2ServerRequest;
  readonly #chunks: Uint8Array[] = [];
  readonly #timer: ReturnType<typeof setTimeout>;
  #waiting: { resolve(step: BytesStep): void; reject(error: unknown): void } | undefined;
  #ended: { readonly error?: Fault } | undefined;
  readonly #held: Held;

  constructor(request: IncomingMessage | Http2ServerRequest, { ms, held }: BodyOptions) {
    this.#request = request;
    this.#held = held;
    request.on("data", this.#onData);
    request.on("end", this.#onEnd);
    request.on("close", this.#onClose);
    request.on("error", this.#onClose);
    request.pause();
    this.#timer = setTimeout(() => this.#finish({ error: tooLate(ms) }), timerMs(ms));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<BytesStep> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#settle();
      if (this.#waiting !== undefined) this.#request.resume();
    });
  }

  return(): Promise<BytesStep> {
    this.#chunks.length = 0;
    this.#finish({});
    return Promise.resolve({ done: true, value: undefined });
  }

  #settle(): void {
    const waiting = this.#waiting;
    const chunk = this.#chunks.shift();
    if (waiting === undefined || (chunk === undefined && this.#ended === undefined)) {
      if (chunk !== undefined) this.#chunks.unshift(chunk);
      return;
    }
    this.#waiting = undefined;
    if (chunk !== undefined) waiting.resolve({ done: false, value: chunk });
    else if (this.#ended?.error !== undefined) waiting.reject(this.#ended.error);
    else waiting.resolve({ done: true, value: undefined });
  }

  #finish(how: { readonly error?: Fault }): void {
    if (this.#ended !== undefined) return;
    this.#ended = how;
    this.#held.free();
    clearTimeout(this.#timer);
    const request = this.#request;
    request.off("data", this.#onData);
    request.off("end", this.#onEnd);
    request.off("close", this.#onClose);
    request.off("error", this.#onClose);
    // Later errors of the connection were already reported, or no longer matter.
    request.on("error", () => {});
    request.resume();
    this.#settle();
  }

  readonly #onData = (chunk: Uint8Array): void => {
    const over = this.#held.count(this.#held.bytes + chunk.length);
    if (over !== undefined) return this.#finish({ error: over });
    this.#chunks.push(chunk);
    this.#request.pause();
    this.#settle();
  };

  readonly #onEnd = (): void => this.#finish({});

  readonly #onClose = (): void => this.#finish({ error: new Fault("cancelled", "the client closed the request before its end") });
}
