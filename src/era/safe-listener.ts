import type { Fault } from "../core/index.js";

/** A fault listener that cannot disturb its link: what it throws becomes an uncaught error. */
export function safeListener(listener: ((fault: Fault) => void) | undefined): (fault: Fault) => void {
  if (listener === undefined) return ignore;
  return (fault) => {
    try {
      listener(fault);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}

function ignore(): void {}
