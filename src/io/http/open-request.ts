import type { EventEmitter } from "node:events";
import { type Account, CALL_BYTES, defaultLimits, Fault, type Held, type Limits } from "../../core/index.js";

const HELD: unique symbol = Symbol("held");

interface Counted {
  [HELD]?: Held;
}

/** Bytes that a header counts in addition to its name and value, as in HTTP/2. */
const OVERHEAD = 32;

/**
 * Counts a request while it is open: its headers are kept as long, and HTTP/2 packs many of them into few bytes. Returns a fault if they
 * are too large, or if there is no room for them.
 */
export function countRequest(
  request: object,
  headers: readonly string[],
  account: Account,
  limits: Partial<Limits> | undefined,
): Held | Fault {
  const { headerBytes = defaultLimits.headerBytes } = limits ?? defaultLimits;
  let bytes = 0;
  for (const text of headers) bytes += text.length + OVERHEAD / 2;
  if (bytes > headerBytes)
    return new Fault("overload", `the headers are larger than ${headerBytes} bytes`, { data: { limit: "headerBytes", max: headerBytes } });
  const held = account.hold();
  const over = held.count(CALL_BYTES + bytes);
  if (over !== undefined) {
    held.free();
    return over;
  }
  (request as Counted)[HELD] = held;
  return held;
}

/** Frees `held` when the emitter closes. All requests share one listener function, because there is one listener for each request. */
export function freeOnClose(emitter: EventEmitter, held: Held): void {
  (emitter as Counted)[HELD] = held;
  emitter.on("close", freeOwn);
}

function freeOwn(this: Counted): void {
  this[HELD]?.free();
}

/** Counts an open request for that principal from now on. */
export function claimRequest(request: object, principal: string): void {
  (request as Counted)[HELD]?.claim(principal);
}
