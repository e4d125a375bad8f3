import { WebSocket } from "ws";
import { timerMs } from "../../stream/index.js";

/** Pings a peer, and ends the connection if it answers none of two. The returned function stops that. */
export function keepAlive(socket: WebSocket, ms: number): () => void {
  let missed = 0;
  const alive = (): void => {
    missed = 0;
  };
  socket.on("pong", alive);
  // A peer that sends is there, even if its answer waits behind what it sends.
  socket.on("message", alive);
  const timer = setInterval(() => {
    if (missed++ >= 2) return socket.terminate();
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, timerMs(ms));
  timer.unref();
  return () => {
    clearInterval(timer);
    socket.off("pong", alive);
    socket.off("message", alive);
  };
}
