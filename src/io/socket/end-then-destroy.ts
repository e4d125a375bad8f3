import type { Socket } from "node:net";
import { fixedTimeouts } from "../../core/index.js";

/** Closes a connection once the peer has received what was written, or after a timeout. */
export function endThenDestroy(socket: Socket): void {
  socket.end();
  // A peer that is stuck in a write could not see that its input has ended.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), fixedTimeouts.lingerMs);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
}
