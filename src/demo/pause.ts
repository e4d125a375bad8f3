import type { Cancel } from "../api/index.js";

/** Waits for `ms`, or until the caller has left. */
export function pauseFor(ms: number, cancel: Cancel): Promise<void> {
  return new Promise((resolve) => {
    let unhook: (() => void) | undefined;
    const timer = setTimeout(() => {
      unhook?.();
      resolve();
    }, ms);
    unhook = cancel.on(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
