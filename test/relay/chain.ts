import { fileURLToPath } from "node:url";
import { type Address, type Connection, type Listener, serve, wireFor } from "../../src/api/index.js";
import { type Bridge, bridge } from "../../src/bridge/index.js";
import type { Era, RawClient, RawServer, Take } from "./raw/types.js";
import { rawWires } from "./raw/wires.js";

/** A hop of a chain: a wire, or gRPC with each call as an RPC. */
export type Hop = keyof typeof listenAt;

const listenAt = {
  stdio: "stdio:",
  tcp: "tcp://127.0.0.1:0",
  http: "http://127.0.0.1:0/mcp",
  sse: "sse+http://127.0.0.1:0/sse",
  ws: "ws://127.0.0.1:0/mcp",
  grpc: "grpc://127.0.0.1:0",
  unary: "grpc://127.0.0.1:0",
  connect: "grpc://127.0.0.1:0",
  tunnel: "tunnel+grpc://127.0.0.1:0",
  proto: "proto+tcp://127.0.0.1:0",
} as const;

/** The eras at both ends; each hop between speaks the server's. */
export interface Eras {
  readonly client: Era;
  readonly server: Era;
}

/** What stands between two hops: a relay of one connection, or a bridge. */
export type Between = "relay" | "bridge";

export interface Chain {
  readonly client: RawClient;
  readonly server: RawServer;
  close(): Promise<void>;
}

const asks = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: { listChanged: true } };
const child = fileURLToPath(new URL("stdio-relay.mjs", import.meta.url));

/**
 * Opens a raw server, a relay for each hop but the last, and a raw client: `[stdio, http, ws]` is a client on stdio, a relay to HTTP, a relay to
 * WebSocket, and a server there. The server has to answer the handshake that dialing makes.
 */
export async function openChain(
  hops: readonly Hop[],
  eras: Eras,
  heard: { readonly client: Take; readonly server: Take; ready(server: RawServer): void },
  between: Between = "relay",
): Promise<Chain> {
  const open: { close(): Promise<unknown> }[] = [];
  const front = hops[0] as Hop;
  const server = await rawOf(hops[hops.length - 1] as Hop).server(eras.server, heard.server);
  open.push(server);
  heard.ready(server);
  let address: Address = server.address;
  for (let index = hops.length - 2; index >= 0; index--) {
    const dial = { era: eras.server, client: { capabilities: asks }, ...(hops[index + 1] === "unary" && { calls: "rpc" as const }) };
    const listen = { eras: [index === 0 ? eras.client : eras.server] };
    if (hops[index] === "stdio") {
      const args = [child, ...[address, dial, listen, between].map((value) => JSON.stringify(value))];
      address = index === 0 ? JSON.stringify([process.execPath, ...args]) : { command: process.execPath, args };
      continue;
    }
    if (between === "bridge") {
      const { client: _, ...dialed } = dial;
      const made: Bridge = await bridge({
        listen: [listenAt[hops[index] as Hop]],
        to: address,
        dial: dialed,
        serve: listen,
        sessions: "shared",
      });
      open.push(made);
      address = made.listeners[0]?.address as string;
      continue;
    }
    const upstream: Connection = await (await wireFor(address)).dial(address, dial);
    const listener: Listener = await serve(upstream, listenAt[hops[index] as Hop], listen);
    open.push(upstream, listener);
    address = listener.address;
  }
  const client = await rawOf(front).client(address as string, eras.client, heard.client);
  open.push(client);
  return {
    client,
    server,
    async close() {
      for (const end of open.reverse()) await end.close();
    },
  };
}

function rawOf(hop: Hop): (typeof rawWires)[keyof typeof rawWires] {
  const wire = (rawWires as Readonly<Record<string, (typeof rawWires)[keyof typeof rawWires]>>)[hop];
  if (wire === undefined) throw new Error(`${hop} has no raw ends`);
  return wire;
}
