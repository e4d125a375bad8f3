import type { Duplex } from "node:stream";

/** Bytes that leave before the tick is over: the peer can begin with them while the rest is made. */
const ENOUGH = 2 * 1024;

/** A function to be called before each write to a socket: the small messages of one tick then leave together. */
export function gatherer(socket: Duplex): () => void {
  let gathering = false;
  const release = (): void => {
    if (!gathering) return;
    gathering = false;
    socket.uncork();
  };
  return () => {
    if (gathering && socket.writableLength >= ENOUGH) release();
    if (gathering) return;
    gathering = true;
    socket.cork();
    process.nextTick(release);
  };
}
