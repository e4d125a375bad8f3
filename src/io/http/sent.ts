import type { Readable } from "node:stream";
import { Fault } from "../../core/index.js";
import { Pieces } from "../../stream/index.js";
import { longHead } from "../http1/answer-head.js";
import { whyUnreached } from "../unreached.js";
import { answerText } from "./answer-text.js";

/** The answer to a request. */
export interface Sent {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body as it arrives. Leaving it closes the stream. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The next piece of the body, if it has arrived already. */
  take?(): Uint8Array | undefined;
  /** The body as text, up to a limit. */
  text(maxBytes: number): Promise<string>;
  /** Notes that the answer has shown a sign of life. From now on a long silence means that the server has gone. */
  beat(): void;
}

/** An answer whose body is a Node stream. `broken` tells whether a stream that ended was cut. */
export function sent(
  status: number,
  headers: Readonly<Record<string, unknown>>,
  stream: Readable,
  broken: () => boolean = () => false,
  onBeat?: () => void,
): Sent {
  // If the connection is cut while nobody reads, the next reader gets the error.
  stream.on("error", () => {});
  return new StreamSent(status, headers, stream, broken, onBeat);
}

/** A class, because V8 gives an object with its own getter a shape of its own, which keeps the answer in memory for long. */
class StreamSent implements Sent {
  readonly status: number;
  readonly #headers: Readonly<Record<string, unknown>>;
  readonly #stream: Readable;
  readonly #broken: () => boolean;
  readonly #onBeat: (() => void) | undefined;

  constructor(
    status: number,
    headers: Readonly<Record<string, unknown>>,
    stream: Readable,
    broken: () => boolean,
    onBeat: (() => void) | undefined,
  ) {
    this.status = status;
    this.#headers = headers;
    this.#stream = stream;
    this.#broken = broken;
    this.#onBeat = onBeat;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(", ") : (value as string | undefined);
  }

  get body(): AsyncIterable<Uint8Array> {
    return bytesOf(this.#stream, this.#broken);
  }

  text(maxBytes: number): Promise<string> {
    const coding = this.header("content-encoding");
    return textOf(this.#stream, { length: this.#headers["content-length"], coding, maxBytes, broken: this.#broken });
  }

  beat(): void {
    this.#onBeat?.();
  }
}

async function* bytesOf(stream: Readable, broken: () => boolean): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    throw cut(error);
  }
  if (broken()) throw cut(undefined);
}

/** The answer broke off. */
export function cut(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault("unavailable", "the server closed the connection", { cause: error, data: { reason: "closed" } });
}

interface AnswerBody {
  readonly length: unknown;
  readonly coding: string | undefined;
  readonly maxBytes: number;
  readonly broken: () => boolean;
}

function textOf(stream: Readable, { length, coding, maxBytes, broken }: AnswerBody): Promise<string> {
  return new Promise((resolve, reject) => {
    let ended = false;
    const finish = (bytes: Uint8Array): void => {
      ended = true;
      try {
        if (broken()) reject(cut(undefined));
        else resolve(answerText(bytes, coding));
      } catch (fault) {
        reject(fault);
      }
    };
    // A cancelled request may end with nothing but `close`.
    stream.once("close", () => {
      if (!ended) reject(cut(undefined));
    });
    const there = stream.readableLength;
    // A small body has usually come with its headers. Then this only waits for the end, which frees the connection.
    if (there > 0 && there <= maxBytes && Number(length) === there) {
      const whole = stream.read() as Buffer;
      stream.once("end", () => finish(whole)).resume();
      return;
    }
    const chunks = new Pieces();
    stream.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunks.bytes > maxBytes)
        stream.destroy(
          new Fault("overload", "the answer is larger than a message may be", { data: { limit: "messageBytes", max: maxBytes } }),
        );
    });
    stream.once("end", () => finish(chunks.whole()));
    stream.once("error", (error) => reject(cut(error)));
  });
}

/** Why there is no answer from a server: from an origin, or on a Unix socket. */
export function requestFault(error: NodeJS.ErrnoException, server: string): Fault {
  if (error instanceof Fault) return error;
  if (error.code === "HPE_HEADER_OVERFLOW") return longHead();
  return new Fault("unavailable", `cannot reach ${server}: ${whyUnreached(error)}`, {
    cause: error,
    data: { reason: error.code ?? "failed" },
  });
}
