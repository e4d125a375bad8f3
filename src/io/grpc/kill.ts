import type { Http2Session } from "node:http2";
import type { Socket } from "node:net";
import { ignore } from "../../stream/index.js";

/** Ends a session whose peer may not read any more: destroy() alone waits until everything written was sent. */
export function kill(session: Http2Session, error?: Error): void {
  if (session.destroyed) return;
  // Node returns a proxy for the socket. Its methods return the socket itself.
  const socket: Socket = session.socket.off("close", ignore);
  session.destroy(error);
  socket.destroy();
}
