import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { openSocket } from "./open.js";

it.each([
  ["that takes mcp", undefined, "mcp", 1],
  ["that knows no subprotocol", () => false as const, "", 2],
])("opens a socket to a server %s", async (_, handleProtocols, protocol, connections) => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", ...(handleProtocols && { handleProtocols }) });
  await once(server, "listening");
  let count = 0;
  server.on("connection", () => count++);
  const { socket } = await openSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, {});
  expect(socket.protocol).toBe(protocol);
  expect(count).toBe(connections);
  socket.terminate();
  await new Promise((resolve) => server.close(resolve));
});
