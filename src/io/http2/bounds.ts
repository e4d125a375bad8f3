import { defaultLimits } from "../../core/index.js";

/**
 * Bytes that may be in flight on one call, and on all calls of a connection. HTTP/2's default of 64 KiB allows only 3 MB/s with a round
 * trip of 20 ms.
 */
export const WINDOW: number = 8 * 1024 * 1024;

/** What a server may send ahead on one connection, and at most on one read. */
export const AHEAD: number = 16 * 1024 * 1024;

/** The same for a call whose slow reader should slow down the server early: for notifications, not for the bytes of a resource. */
export const NARROW: number = 64 * 1024;

/**
 * Bytes that arrive before the peer may send as many more. At half a window the last frame before an update often went beyond the half, and
 * what was left of the window could not reach the next one: a peer far away then sent only half a window in each round trip. A peer on this
 * machine (`near`) receives an update at once, so half a window is early enough, and costs less.
 */
export function creditStep(window: number, near: boolean): number {
  return Math.max(window >> (near ? 1 : 3), 16 * 1024);
}

/** Calls of one connection at the same time. */
export const CONCURRENT: number = defaultLimits.inFlight;

/** MB that `node:http2` lets one connection hold, including frames to be sent, before it refuses calls. Each call has its own limit. */
export const SESSION_MEMORY_MB = 1024;
