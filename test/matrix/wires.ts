import type { Address, Era } from "../../src/api/index.js";
import { type Bridge, bridge } from "../../src/bridge/index.js";
import { programFile } from "../support/programs.js";

/** A wire as the matrix has it: where a bridge listens with it, and how one dials it. */
export interface MatrixWire {
  /** What `listen` takes. One that begins with a child's streams is listened on in a process of its own. */
  readonly listen: string;
  /** The address that a client dials, if the listener's own says too little. */
  readonly dialed?: (address: string) => string;
  /** Options that its clients dial with. */
  readonly dial?: { readonly calls: "rpc" };
  /** Of a process that speaks on its own streams. */
  readonly speaks?: "stdio" | "http+stdio" | "grpc+stdio" | "proto+stdio";
  readonly eras: readonly Era[];
}

const both: readonly Era[] = ["legacy", "modern"];

export const wires = {
  stdio: { listen: "stdio:", speaks: "stdio", eras: both },
  http: { listen: "http://127.0.0.1:0/mcp", eras: both },
  sse: { listen: "sse+http://127.0.0.1:0/sse", eras: ["legacy"] },
  ws: { listen: "ws://127.0.0.1:0/mcp", eras: both },
  session: { listen: "grpc://127.0.0.1:0", eras: both },
  unary: { listen: "grpc://127.0.0.1:0", dial: { calls: "rpc" }, eras: both },
  tunnel: { listen: "tunnel+grpc://127.0.0.1:0", eras: both },
  lines: { listen: "tcp://127.0.0.1:0", eras: both },
  proto: { listen: "proto+tcp://127.0.0.1:0", eras: both },
  "proto+ws": { listen: "proto+ws://127.0.0.1:0/mcp", eras: both },
  "proto+grpc": { listen: "proto+grpc://127.0.0.1:0", eras: both },
  "proto+stdio": { listen: "proto+stdio:", speaks: "proto+stdio", eras: both },
  "http+stdio": { listen: "http+stdio:", speaks: "http+stdio", eras: ["modern"] },
  "grpc+stdio": { listen: "grpc+stdio:", speaks: "grpc+stdio", eras: both },
  /** Every wire on one port. */
  any: { listen: "any://127.0.0.1:0", dialed: (address) => `${address.replace("any", "http")}/mcp`, eras: both },
} as const satisfies Readonly<Record<string, MatrixWire>>;

export type WireName = keyof typeof wires;
export const wireNames = Object.keys(wires) as WireName[];

export function wireOf(name: WireName): MatrixWire {
  return wires[name];
}

export interface Opened {
  /** What the next one dials. */
  readonly address: Address;
  close(): Promise<void>;
}

const bridgeProcess = programFile(new URL("bridge.mjs", import.meta.url));
const contractProcess = programFile(new URL("../fixtures/contract-server.mjs", import.meta.url));

/** What a client dials to be served by a script of its own. */
export function processAddress(name: WireName, script: string, args: readonly string[]): Address {
  const { speaks = "stdio" } = wireOf(name);
  return { command: process.execPath, args: [script, ...args], speaks };
}

/** The contract's server as a process, for wires that live on a process's streams. */
export function contractChild(name: WireName, eras: readonly Era[]): Address {
  return processAddress(name, contractProcess, [wireOf(name).listen, ...eras]);
}

export interface BridgeHop {
  readonly listen: WireName;
  readonly eras: readonly Era[];
  readonly to: Opened;
  /** How `to` is dialed. */
  readonly over: WireName;
  readonly era: Era;
}

/** A bridge between two wires. Closing it also closes what is behind it. */
export async function openHop({ listen, eras, to, over, era }: BridgeHop): Promise<Opened> {
  const dial = { ...wireOf(over).dial, era };
  const { listen: at, speaks, dialed = (address: string) => address } = wireOf(listen);
  if (speaks !== undefined) {
    const options = JSON.stringify({ listen: [at], to: to.address, dial, serve: { eras } });
    return { address: processAddress(listen, bridgeProcess, [options]), close: () => to.close() };
  }
  const made: Bridge = await bridge({ listen: [at], to: to.address, dial, serve: { eras }, onStderr: () => {} });
  return {
    address: dialed(made.listeners[0]?.address as string),
    async close() {
      await made.close();
      await to.close();
    },
  };
}
