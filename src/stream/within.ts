import { timerMs } from "./timer.js";

/** Whether a promise settles within `ms`. The timer is cleared. The promise must not reject. */
export function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timerMs(ms), false);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
