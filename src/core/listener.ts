import { Fault } from "./fault.js";
import type { Listener } from "./wire.js";

/** What new calls hear while a listener closes, and calls in flight that it did not wait for. */
export function closingFault(): Fault {
  return new Fault("unavailable", "the server is shutting down", { data: { reason: "closing" } });
}

/** A listener that `end` ends, once, however often it is closed; one that may end by itself says so with `over`. */
export function listenerOf(address: string, end: () => Promise<void>, over?: Promise<unknown>): Listener {
  let ended: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  void over?.then(ended, ended);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= end().finally(ended));
  return { address, closed, close, [Symbol.asyncDispose]: close };
}
