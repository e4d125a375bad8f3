import type { Script } from "../script.js";
import { connect } from "./connect.js";
import { session } from "./grpc.js";
import { httpClient } from "./http-client.js";
import { httpServer } from "./http-server.js";
import { protomcp } from "./proto-mcp.js";
import { rpcFor } from "./rpcs.js";
import { sse } from "./sse.js";
import { stdio, tcp } from "./stdio.js";
import { tunnel } from "./tunnel.js";
import type { RawWire } from "./types.js";
import { unary } from "./unary.js";
import { websocket } from "./websocket.js";

/** Every wire that has raw ends, by the name that the reports give it. */
export const rawWires = {
  stdio,
  tcp,
  http: { client: async (address, era, take) => httpClient(address, era, take), server: httpServer },
  sse,
  ws: websocket,
  tunnel,
  grpc: session,
  unary,
  connect,
  proto: protomcp,
} as const satisfies Readonly<Record<string, RawWire>>;

export type RawName = keyof typeof rawWires;

/** Whether a client of the wire can say it: one that makes RPCs has no other words, and hears no question. */
export function canSay(wire: string, script: Script): boolean {
  if (wire !== "unary" && wire !== "connect") return true;
  return (
    script.kind === "call" &&
    script.extra === undefined &&
    rpcFor(`{"method":${JSON.stringify(script.method)}}`) !== undefined &&
    (script.steps ?? []).every((step) => "note" in step)
  );
}
