import { httpClient } from "./http-client.js";
import { httpServer } from "./http-server.js";
import { sse } from "./sse.js";
import { stdio } from "./stdio.js";
import { tunnel } from "./tunnel.js";
import type { Era, RawWire } from "./types.js";
import { websocket } from "./websocket.js";

/** Every wire that has raw ends, by the name that the reports give it. */
export const rawWires = {
  stdio,
  http: { client: async (address, era, take) => httpClient(address, era, take), server: httpServer },
  sse,
  ws: websocket,
  tunnel,
} as const satisfies Readonly<Record<string, RawWire>>;

export type RawName = keyof typeof rawWires;

/** HTTP+SSE is older than the modern era. */
export function speaks(wire: string, era: Era): boolean {
  return wire !== "sse" || era === "legacy";
}
