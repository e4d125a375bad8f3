import { type JsonObject, type Listener, type ListenOptions, type Service, serve } from "../../src/api/index.js";
import type { Era, RawClient } from "../relay/raw/types.js";
import { type RawName, rawWires } from "../relay/raw/wires.js";

/** Where a wire with raw ends listens. Stdio has no listener in this process. */
const addresses: Readonly<Record<Exclude<RawName, "stdio">, string>> = {
  tcp: "tcp://127.0.0.1:0",
  http: "http://127.0.0.1:0/mcp",
  sse: "sse+http://127.0.0.1:0/sse",
  ws: "ws://127.0.0.1:0/mcp",
  tunnel: "tunnel+grpc://127.0.0.1:0",
  grpc: "grpc://127.0.0.1:0",
  unary: "grpc://127.0.0.1:0",
  connect: "grpc://127.0.0.1:0",
  proto: "proto+tcp://127.0.0.1:0",
};
export type Served = keyof typeof addresses;

export interface Message extends JsonObject {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
}

/** A raw client that talks to a listener, and all that it heard. */
export interface Talk {
  readonly heard: readonly Message[];
  send(message: JsonObject | string): void;
  /** The first answer under an id, come or to come. */
  answer(id: unknown): Promise<Message>;
  /** Lets go of what was heard. */
  forget(): void;
  /** Stops reading, or reads on. */
  read(on: boolean): void;
  /** Goes away without a word. */
  leave(): Promise<void>;
}

export const listen = (service: Service, wire: Served, options: ListenOptions = {}): Promise<Listener> =>
  serve(service, addresses[wire], options);

const VERSIONS: Readonly<Record<Era, string>> = { legacy: "2025-11-25", modern: "2026-07-28" };

/** A request as a client of that era makes it. */
export function asked(era: Era, id: unknown, method: string, params: JsonObject = {}): JsonObject {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": VERSIONS.modern,
    "io.modelcontextprotocol/clientCapabilities": {},
    ...(params["_meta"] as JsonObject | undefined),
  };
  return { jsonrpc: "2.0", id: id as string, method, params: era === "modern" ? { ...params, _meta: meta } : params };
}

export const toolCall = (era: Era, id: unknown, name: string, args: JsonObject = {}, more: JsonObject = {}): JsonObject =>
  asked(era, id, "tools/call", { name, arguments: args, ...more });

/** Connects, and begins a session if it is legacy. */
export async function talk(address: string, wire: Served, era: Era): Promise<Talk> {
  const heard: Message[] = [];
  let wake: (() => void)[] = [];
  const client: RawClient = await rawWires[wire].client(address, era, (text) => {
    heard.push(JSON.parse(text) as Message);
    for (const each of wake.splice(0)) each();
  });
  const send = (message: JsonObject | string): void => client.send(typeof message === "string" ? message : JSON.stringify(message));
  const answer = async (id: unknown): Promise<Message> => {
    for (;;) {
      const found = heard.find((message) => message.id === id && message.method === undefined);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => wake.push(resolve));
    }
  };
  if (era === "legacy") {
    const clientInfo = { name: "raw", version: "0" };
    send({ jsonrpc: "2.0", id: "init", method: "initialize", params: { protocolVersion: VERSIONS.legacy, capabilities: {}, clientInfo } });
    await answer("init");
    send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }
  return {
    heard,
    send,
    answer,
    forget: () => void heard.splice(0),
    read: (on) => client.read?.(on),
    async leave() {
      wake = [];
      await client.close();
    },
  };
}
