import { once } from "node:events";
import { WebSocket } from "ws";
import type { JsonObject } from "../../../src/api/index.js";
import type { Opening } from "./raw.js";

/** A socket of the `ws` package. */
export function webSocket(address: string): Opening {
  return async (take, ended) => {
    const socket = new WebSocket(address, "mcp");
    socket.on("message", (data) => take(JSON.parse(String(data)) as JsonObject));
    socket.on("close", (code) => ended(new Error(`the socket was closed with ${code}`)));
    await once(socket, "open");
    return {
      send: (message) => socket.send(JSON.stringify(message)),
      close: async () => {
        if (socket.readyState === WebSocket.CLOSED) return;
        const closed = once(socket, "close");
        socket.close();
        await closed;
      },
    };
  };
}
