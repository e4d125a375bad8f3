import { once } from "node:events";
import { createServer } from "node:http";
import { WebSocket, WebSocketServer } from "ws";
import { portOf } from "./sockets.js";
import type { RawWire } from "./types.js";

export const websocket: RawWire = {
  async client(address, _era, take) {
    const socket = new WebSocket(address, "mcp");
    socket.on("message", (data) => take(String(data)));
    await once(socket, "open");
    return {
      send: (text) => socket.send(text),
      read: (on) => (on ? socket.resume() : socket.pause()),
      async close() {
        socket.terminate();
      },
    };
  },
  async server(_era, take, wanted) {
    const http = createServer();
    const sockets = new WebSocketServer({ server: http });
    let current: WebSocket | undefined;
    sockets.on("connection", (socket) => {
      current = socket;
      socket.on("message", (data) => take(String(data)));
    });
    const port = await portOf(http, wanted);
    return {
      address: `ws://127.0.0.1:${port}/mcp`,
      send: (text) => current?.send(text),
      async close() {
        for (const socket of sockets.clients) socket.terminate();
        sockets.close();
        http.close();
      },
    };
  },
};
