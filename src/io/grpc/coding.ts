import { createGunzip, createInflate, deflate, gunzipSync, gzip, inflateSync } from "node:zlib";
import { Fault } from "../../core/index.js";
import { tooLarge } from "./deframer.js";

/** The supported compressions. `deflate` is zlib's format, as in HTTP. */
export type MessageCoding = "identity" | "gzip" | "deflate";

export const ACCEPTED = "identity,gzip,deflate";

/** Messages smaller than this are not worth compressing. */
export const WORTH = 1024;

export function isEncoding(name: string): name is MessageCoding {
  return name === "identity" || name === "gzip" || name === "deflate";
}

/** Whether a `grpc-accept-encoding` names gzip. */
export function acceptsGzip(header: unknown): boolean {
  return typeof header === "string" && /(^|,)\s*gzip\s*(,|$)/.test(header);
}

/** A message of up to this many bytes is decompressed at once, without waiting for large ones of others. */
const QUICK = 256 * 1024;
/** Bytes that are decompressed at a time. */
const PIECE = 64 * 1024;

export interface DecompressOptions {
  /** The most bytes that the message may have. */
  readonly limit: number;
  /** Called with the number of bytes that have been decompressed. Returns a fault to stop. */
  grow?(bytes: number): Fault | undefined;
}

/** Stops as soon as the limit is exceeded, with `overload`. Corrupt data fails with `internal`. */
export async function decompress(encoding: MessageCoding, data: Uint8Array, options: DecompressOptions): Promise<Uint8Array> {
  if (encoding === "identity") throw new Fault("internal", "a message is marked as compressed, but the call does not say how");
  return quick(encoding, data, options) ?? inTurn(() => unpack(encoding, data, options));
}

/** Decompresses a message that says it is small. If it is not, or is corrupt, `unpack` handles it. */
function quick(encoding: MessageCoding, data: Uint8Array, { limit, grow }: DecompressOptions): Uint8Array | undefined {
  if (Math.max(data.length, encoding === "gzip" ? saidSize(data) : 0) > QUICK) return undefined;
  try {
    const whole = (encoding === "gzip" ? gunzipSync : inflateSync)(data, { maxOutputLength: Math.min(QUICK, limit) });
    return grow?.(whole.length) === undefined ? whole : undefined;
  } catch {
    return undefined;
  }
}

async function unpack(encoding: MessageCoding, data: Uint8Array, { limit, grow }: DecompressOptions): Promise<Uint8Array> {
  const stream = encoding === "gzip" ? createGunzip({ chunkSize: PIECE }) : createInflate({ chunkSize: PIECE });
  // One buffer that grows: pieces that are joined at the end would be in memory twice.
  let memory = Buffer.allocUnsafeSlow(Math.min(Math.max(PIECE, encoding === "gzip" ? saidSize(data) : 0), limit));
  let bytes = 0;
  stream.end(data);
  try {
    for await (const piece of stream as AsyncIterable<Uint8Array>) {
      const sum = bytes + piece.length;
      const fault = sum > limit ? tooLarge(limit) : grow?.(sum);
      if (fault !== undefined) throw fault;
      if (sum > memory.length) {
        const more = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * memory.length, sum), limit));
        more.set(memory.subarray(0, bytes));
        memory = more;
      }
      memory.set(piece, bytes);
      bytes = sum;
    }
  } catch (error) {
    throw error instanceof Fault ? error : new Fault("internal", "a compressed message is corrupt", { cause: error });
  }
  return 2 * bytes < memory.length ? Uint8Array.prototype.slice.call(memory, 0, bytes) : memory.subarray(0, bytes);
}

/** The highest compression ratio of gzip. */
const SMALLER = 1032;

/** The size in the last four bytes of gzip data, limited to what is possible. */
function saidSize(data: Uint8Array): number {
  if (data.length < 18) return 0;
  return Math.min(new DataView(data.buffer, data.byteOffset + data.length - 4, 4).getUint32(0, true), SMALLER * data.length);
}

let last: Promise<unknown> = Promise.resolve();

/** Decompresses one large message after the other in this process, because each is in memory several times while it is converted. */
function inTurn<T>(run: () => Promise<T>): Promise<T> {
  const done = last.then(run);
  last = done.catch(() => {});
  return done;
}

export function compress(encoding: MessageCoding, data: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    (encoding === "gzip" ? gzip : deflate)(data, (error, result) => (error === null ? resolve(result) : reject(error)));
  });
}
