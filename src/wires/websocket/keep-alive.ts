import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { signsOfLife } from "../../io/index.js";
import { timerMs } from "../../stream/index.js";

/** Pings a peer, and ends the connection if it answers none of two and nothing else moves on `below`. The returned function stops that. */
export function keepAlive(socket: WebSocket, below: Duplex | undefined, ms: number): () => void {
  let missed = 0;
  const alive = (): void => {
    missed = 0;
  };
  socket.on("pong", alive);
  // A peer that sends is there, even if its answer waits behind what it sends.
  socket.on("message", alive);
  // So is one whose large message is not complete yet, or that still takes one.
  const moves = signsOfLife(() => below);
  const timer = setInterval(() => {
    if (moves()) missed = 0;
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
