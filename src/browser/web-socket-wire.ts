import type { DialWire } from "../core/index.js";
import { dialLink, observedAs, renewing } from "../era/index.js";
import { openPageSocket } from "./open-socket.js";

/** JSON-RPC on the page's own WebSocket: `ws(s)://`. */
export const webSocketWire: DialWire = {
  name: "websocket",
  accepts: (address) => typeof address === "string" && /^wss?:\/\//.test(address),
  async dial(address, given) {
    const options = observedAs(given, "dial", "websocket");
    const connect = (signal: AbortSignal | undefined) => openPageSocket(String(address), { ...options, signal });
    return dialLink(renewing(await connect(options.signal), { ...options, connect }), options);
  },
};
