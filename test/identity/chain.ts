import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Address,
  type Command,
  type Connection,
  type ConnectOptions,
  type Listener,
  type ServeOptions,
  serve,
  wireFor,
} from "../../src/api/index.js";
import { childServer } from "../interop/child-server.js";
import { programFile } from "../support/programs.js";
import { offered } from "./caller.js";

/** What a relay listens on. */
export type ListenWire = "stdio" | "http" | "sse" | "ws" | "grpc";
/** Wires that carry what others carry, on other sockets. */
export type SocketWire = "tcp" | "unix" | "http+unix" | "proto+tcp";
/** What one relay dials another on; `unary`: gRPC with each call an RPC of its own. */
export type InnerWire = "http" | "sse" | "ws" | "grpc" | "unary" | "tunnel" | "proto";
/** The server behind: of which version of the SDK; whether it asks before anybody calls; whether it is on HTTP in place of stdio. */
export type ServerKind = "v1" | "v2" | "v1 early" | "v2 early" | "v1 http";

export interface ChainOptions {
  readonly listen: ListenWire | SocketWire;
  /** The wire between two relays; without one there is a single relay. */
  readonly inner?: InnerWire | undefined;
  readonly server?: ServerKind | undefined;
  /** Whether callers have to show a credential; it is their name. */
  readonly auth?: boolean | undefined;
  /** Takes the address that the front relay is to dial, and gives the one that it does: what stands between the two. */
  readonly between?: (address: string) => Promise<string>;
  /** What the front relay dials with besides. */
  readonly dialing?: ConnectOptions;
}

/** Relays in front of a legacy server, and where a client finds them. */
export interface Chain {
  /** The address of the front relay, as its clients spell it. */
  readonly address: string;
  /** The front relay as a child, where it listens on stdio. */
  readonly child: Command;
  close(): Promise<void>;
}

const script = (name: string): string => programFile(new URL(`fixtures/${name}`, import.meta.url));
const listenOn: Readonly<Record<InnerWire, string>> = {
  http: "http",
  sse: "sse+http",
  ws: "ws",
  grpc: "grpc",
  unary: "grpc",
  tunnel: "grpc",
  proto: "proto+tcp",
};

/** Where the server is: a command to start, or one that listens already. */
async function serverAt(kind: ServerKind): Promise<{ readonly at: Address; close(): Promise<void> }> {
  const args = [script("asker.mjs"), ...kind.split(" ")];
  if (!kind.endsWith("http")) return { at: { command: process.execPath, args }, close: async () => {} };
  const child = await childServer(args);
  return { at: `http://127.0.0.1:${child.port}/mcp`, close: async () => child[Symbol.asyncDispose]() };
}

/** What a relay dials with: nothing but what a legacy server may ask. */
const offering: ConnectOptions & { client: { capabilities: typeof offered } } = { client: { capabilities: offered } };
/** Version 2 of the SDK speaks whatever it is asked in; here it is to be legacy. */
const asLegacy = { ...offering, era: "legacy" } as const;

export async function openChain({ listen, inner, server = "v1", auth = false, between, dialing: more }: ChainOptions): Promise<Chain> {
  const opened: { close(): Promise<void> }[] = [];
  const dial = async (address: Address, options: object): Promise<Connection> => {
    const connection = await (await wireFor(address)).dial(address, options);
    opened.unshift(connection);
    return connection;
  };
  const relay = async (to: Address, dialing: object, scheme: string, options: ServeOptions = {}): Promise<string> => {
    const place = scheme.endsWith("unix") ? `:${join(tmpdir(), `${randomUUID()}.sock`)}` : "://127.0.0.1:0";
    const listener: Listener = await serve(await dial(to, dialing), scheme + place, options);
    opened.unshift(listener);
    return listener.address;
  };
  const close = async (): Promise<void> => {
    for (const each of opened) await each.close();
  };
  try {
    const started = await serverAt(server);
    opened.unshift(started);
    let behind = started.at;
    let dialing: object = asLegacy;
    if (inner !== undefined) {
      const listening = await relay(behind, dialing, listenOn[inner]);
      const address = between === undefined ? listening : await between(listening);
      behind = inner === "tunnel" ? `tunnel+${address}` : address;
      dialing = inner === "unary" ? { ...offering, ...more, calls: "rpc" } : { ...offering, ...more };
    }
    const child = { command: process.execPath, args: [script("relay.mjs"), JSON.stringify({ address: behind, options: dialing })] };
    if (listen === "stdio") return { address: "stdio:", child, close };
    const scheme = listen === "sse" ? "sse+http" : listen;
    const gate = auth ? { auth: { verify: (token: string) => ({ id: token }) } } : {};
    const address = await relay(behind, dialing, scheme, gate);
    return { address: address.replace("sse+", ""), child, close };
  } catch (error) {
    await close();
    throw error;
  }
}
