import type { Duplex } from "node:stream";

/** This many bytes are written before the tick ends, so that the peer can begin while the rest is made. */
const ENOUGH = 2 * 1024;

/** Returns a function to call before each write to a socket: the small messages of one tick are then written together. */
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
