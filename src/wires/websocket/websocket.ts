import { type Address, type Connection, defaultTimeouts, type Wire } from "../../core/index.js";
import { dialLink, type Link, observedAs, renewing } from "../../era/index.js";
import { gatherer } from "./gather.js";
import { keepAlive } from "./keep-alive.js";
import { type Socket, socketLink } from "./link.js";
import { listenWebSocket } from "./listen.js";
import { openSocket } from "./open.js";
import type { WebSocketDialOptions } from "./options.js";

/** JSON-RPC text frames, subprotocol `mcp` or none. */
export const websocket: Wire = {
  name: "websocket",
  accepts: (address) => typeof address === "string" && /^wss?:\/\//.test(address),
  listen: listenWebSocket,
  dial: (address, options) => dial(address, observedAs(options, "dial", "websocket")),
};

async function dial(address: Address, options: WebSocketDialOptions): Promise<Connection> {
  const connect = async (signal: AbortSignal | undefined): Promise<Link> => {
    const { socket, below } = await openSocket(String(address), { ...options, signal });
    socket.once("close", keepAlive(socket, options.pingMs ?? defaultTimeouts.pingMs));
    return socketLink(socket as unknown as Socket, options.limits, { gather: gatherer(below) });
  };
  return dialLink(renewing(await connect(options.signal), { ...options, connect }), options);
}
