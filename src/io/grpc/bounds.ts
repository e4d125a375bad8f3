import { defaultLimits } from "../../core/index.js";

/** Bytes that may be under way on one call, and on all of a connection: HTTP/2's 64 KiB let 3 MB/s through at 10 ms. */
export const WINDOW: number = 8 * 1024 * 1024;

/** The same on a call whose messages a slow reader is to hold up early: notifications, not the bytes of a resource. */
export const NARROW: number = 64 * 1024;

/** Calls of one connection at a time. */
export const CONCURRENT: number = defaultLimits.inFlight;

/** MB that Node lets one connection hold, frames to be sent among them, before it refuses calls: each call has its own bound. */
export const SESSION_MEMORY = 1024;
