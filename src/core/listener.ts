import { Fault } from "./fault.js";
import type { Listener } from "./wire.js";

/** The fault of new calls while a listener closes, and of calls in flight that it did not wait for. */
export function closingFault(): Fault {
  return new Fault("unavailable", "the server is shutting down", { data: { reason: "closing" } });
}

/** Calls `end` once, however often `close` is called. `closed` resolves after that, or when `over` settles: it ended by itself. */
export function closable(end: () => Promise<void>, over?: Promise<unknown>): Pick<Listener, "closed" | "close"> {
  let ended: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  void over?.then(ended, ended);
  let closing: Promise<void> | undefined;
  return { closed, close: () => (closing ??= end().finally(ended)) };
}

/** A listener at an address, which `end` ends. `over` settles if it ends by itself. */
export function listenerOf(address: string, end: () => Promise<void>, over?: Promise<unknown>): Listener {
  const { closed, close } = closable(end, over);
  return { address, closed, close, [Symbol.asyncDispose]: close };
}
