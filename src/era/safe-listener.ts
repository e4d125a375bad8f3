import type { Fault } from "../core/index.js";

/** A listener of faults that cannot disturb the link it is told about: what it throws is nobody's but its own, and uncaught. */
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
