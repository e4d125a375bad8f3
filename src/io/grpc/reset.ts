import { constants, type Http2Stream } from "node:http2";
import { addAbortSignal } from "node:stream";
import { CANCELLED, INTERNAL, PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNAVAILABLE } from "./status.js";

/**
 * Resets a stream with CANCEL. Its close() would half-close it first, and the peer would take the cancellation for the end of the data.
 * Destroying it with Node's own AbortError does not do that.
 */
export function reset(stream: Http2Stream): void {
  addAbortSignal(AbortSignal.abort(), stream);
}

const resets: ReadonlyMap<number, number> = new Map([
  [constants.NGHTTP2_REFUSED_STREAM, UNAVAILABLE],
  [constants.NGHTTP2_CANCEL, CANCELLED],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, RESOURCE_EXHAUSTED],
  [constants.NGHTTP2_INADEQUATE_SECURITY, PERMISSION_DENIED],
]);

/** What a reset of the stream means, by its HTTP/2 error code. */
export function resetToGrpc(code: number): number {
  return resets.get(code) ?? INTERNAL;
}
