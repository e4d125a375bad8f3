import type { Cancel } from "../../../core/index.js";
import { timerMs } from "../../../stream/index.js";

/** Waits `ms`, or until the cancel fires. Neither the timer nor the listener stays behind. */
export function wait(ms: number, cancel: Cancel): Promise<void> {
  if (cancel.fired) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      unhook();
      resolve();
    };
    const timer = setTimeout(done, timerMs(ms));
    const unhook = cancel.on(done);
  });
}
