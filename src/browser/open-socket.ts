import { type DialOptions, defaultTimeouts, Fault, lateHandshake } from "../core/index.js";
import type { Link } from "../era/index.js";
import { timerMs } from "../stream/index.js";
import { socketLink } from "../wires/websocket/link.js";

/** Opens the page's own WebSocket. It cannot carry headers, and does not say why it was refused. */
export function openPageSocket(address: string, { signal, limits, handshakeMs = defaultTimeouts.handshakeMs }: DialOptions): Promise<Link> {
  const socket = new WebSocket(address, ["mcp"]);
  const settled = new AbortController();
  const done = { signal: settled.signal };
  return new Promise<Link>((resolve, reject) => {
    const fail = (fault: Fault): void => {
      reject(fault);
      socket.close();
    };
    const timer = setTimeout(() => fail(lateHandshake(handshakeMs, "the server opened no socket")), timerMs(handshakeMs));
    settled.signal.addEventListener("abort", () => clearTimeout(timer));
    const refused = (): void => fail(new Fault("unavailable", `cannot reach ${new URL(address).origin}`, { data: { reason: "failed" } }));
    const giveUp = (): void => fail(new Fault("cancelled", "dialing was given up", { cause: signal?.reason }));
    socket.addEventListener("open", () => resolve(socketLink(socket, limits)), done);
    socket.addEventListener("error", refused, done);
    socket.addEventListener("close", refused, done);
    signal?.addEventListener("abort", giveUp, done);
    if (signal?.aborted === true) giveUp();
  }).finally(() => settled.abort());
}
