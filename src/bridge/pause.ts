import type { Cancel } from "../core/index.js";
import { timerMs } from "../stream/index.js";

/** Waits so long, or until `cancel` fires. */
export function pause(ms: number, cancel: Cancel): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      unhook();
      resolve();
    }, timerMs(ms));
    const unhook = cancel.on(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
