import type { Http2Stream } from "node:http2";
import { addAbortSignal } from "node:stream";

/**
 * Resets a stream with CANCEL. Its close() would half-close it first, so that the peer took the cancellation for the end of what
 * was sent; destroying it with Node's own AbortError does not.
 */
export function reset(stream: Http2Stream): void {
  addAbortSignal(AbortSignal.abort(), stream);
}
