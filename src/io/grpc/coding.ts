import { deflate, gunzip, gzip, inflate } from "node:zlib";
import { Fault } from "../../core/index.js";
import { tooLarge } from "./deframer.js";

/** Ways to compress that are understood here. `deflate` is zlib's format, as in HTTP. */
export type Encoding = "identity" | "gzip" | "deflate";

export const ACCEPTED = "identity,gzip,deflate";

/** Messages smaller than this are not worth compressing. */
export const WORTH = 1024;

export function isEncoding(name: string): name is Encoding {
  return name === "identity" || name === "gzip" || name === "deflate";
}

/** Whether a `grpc-accept-encoding` names gzip. */
export function acceptsGzip(header: unknown): boolean {
  return typeof header === "string" && /(^|,)\s*gzip\s*(,|$)/.test(header);
}

/** Stops inflating as soon as the limit is passed, and fails `overload`; what is corrupt fails `internal`. */
export function decompress(encoding: Encoding, data: Uint8Array, limit: number): Promise<Uint8Array> {
  if (encoding === "identity") {
    return Promise.reject(new Fault("internal", "a message is marked as compressed, but the call has no grpc-encoding"));
  }
  return new Promise((resolve, reject) => {
    const inflated = (error: NodeJS.ErrnoException | null, result: Uint8Array): void => {
      if (error === null) resolve(result);
      else if (error.code === "ERR_BUFFER_TOO_LARGE") reject(tooLarge(limit));
      else reject(new Fault("internal", "a compressed message is corrupt", { cause: error }));
    };
    // zlib takes no limit of 0.
    const options = { maxOutputLength: Math.max(1, limit) };
    if (encoding === "gzip") gunzip(data, options, inflated);
    else inflate(data, options, inflated);
  });
}

export function compress(encoding: Encoding, data: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    (encoding === "gzip" ? gzip : deflate)(data, (error, result) => (error === null ? resolve(result) : reject(error)));
  });
}
