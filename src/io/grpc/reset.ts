import type { Http2Stream } from "node:http2";
import { addAbortSignal } from "node:stream";

/**
 * Resets a stream with CANCEL. Its close() would half-close it first, and the peer would take the cancellation for the end of the data.
 * Destroying it with Node's own AbortError does not do that.
 */
export function reset(stream: Http2Stream): void {
  addAbortSignal(AbortSignal.abort(), stream);
}
