import type { Http2Session } from "node:http2";
import type { Socket } from "node:net";
import { ignore } from "./gate.js";

/** Ends a session whose peer may not listen any more: destroy() alone waits until all that was written has left. */
export function kill(session: Http2Session, error?: Error): void {
  if (session.destroyed) return;
  // Node hands out a stand-in for the socket; what a method of it returns is the socket.
  const socket: Socket = session.socket.off("close", ignore);
  session.destroy(error);
  socket.destroy();
}
