import type { Readable } from "node:stream";
import { Fault } from "../../core/index.js";

/** The answer to a request. */
export interface Sent {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body as it comes; leaving it closes the connection's stream. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The body as text, up to a limit. */
  text(maxBytes: number): Promise<string>;
}

/** An answer whose body is a stream of Node's. `broken` says of one that has ended whether that was before its time. */
export function sent(
  status: number,
  headers: Readonly<Record<string, unknown>>,
  stream: Readable,
  broken: () => boolean = () => false,
): Sent {
  // A connection cut while nobody reads is told to whoever reads next, not thrown.
  stream.on("error", () => {});
  return {
    status,
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : (value as string | undefined);
    },
    body: bytesOf(stream, broken),
    text: (maxBytes) => textOf(stream, maxBytes, broken),
  };
}

async function* bytesOf(stream: Readable, broken: () => boolean): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    throw cut(error);
  }
  if (broken()) throw cut(undefined);
}

function cut(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault("unavailable", "the server closed the connection", { cause: error, data: { reason: "closed" } });
}

function textOf(stream: Readable, maxBytes: number, broken: () => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > maxBytes)
        stream.destroy(
          new Fault("overload", "the answer is larger than a message may be", { data: { limit: "messageBytes", max: maxBytes } }),
        );
    });
    stream.once("end", () => {
      if (broken()) return reject(cut(undefined));
      try {
        resolve(new TextDecoder("utf-8", { fatal: true }).decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
      } catch (error) {
        reject(new Fault("parse", "the answer is not UTF-8", { cause: error }));
      }
    });
    stream.once("error", (error) => reject(cut(error)));
    // Nothing else may come of a request that was given up.
    stream.once("close", () => reject(cut(undefined)));
  });
}

/** Why there is no answer. */
export function requestFault(error: NodeJS.ErrnoException, url: URL): Fault {
  const reasons: Record<string, string> = {
    ECONNREFUSED: "nothing listens there",
    ENOTFOUND: "the host is not known",
    ECONNRESET: "the connection was cut",
    ETIMEDOUT: "no answer",
  };
  return new Fault("unavailable", `cannot reach ${url.origin}: ${reasons[error.code ?? ""] ?? error.message}`, {
    cause: error,
    data: { reason: error.code ?? "failed" },
  });
}
