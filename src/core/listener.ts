import { Fault } from "./fault.js";
import type { Listener } from "./wire.js";

/** The fault of new calls while a listener closes, and of calls in flight that it did not wait for. */
export function closingFault(): Fault {
  return new Fault("unavailable", "the server is shutting down", { data: { reason: "closing" } });
}

/** A listener that calls `end` once, however often it is closed. `over` settles if it ends by itself. */
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
