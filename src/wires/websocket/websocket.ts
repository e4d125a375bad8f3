import { ENCODINGS, MessageCodec } from "../../codec/bufmcpv1/index.js";
import { type Address, type Connection, defaultLimits, defaultTimeouts, type Wire } from "../../core/index.js";
import { dialLink, type Link, observedAs, renewing } from "../../era/index.js";
import { greet, NoProto } from "../../io/index.js";
import { gatherer } from "./gather.js";
import { keepAlive } from "./keep-alive.js";
import { type Socket, socketLink } from "./link.js";
import { listenWebSocket } from "./listen.js";
import { openSocket } from "./open.js";
import type { WebSocketDialOptions } from "./options.js";

/** JSON-RPC in text frames, with the subprotocol `mcp` or none. With `proto+` before the address: proto-mcp in binary frames. */
export const websocket: Wire = {
  name: "websocket",
  accepts: (address) => typeof address === "string" && /^(proto\+)?wss?:\/\//.test(address),
  listen: listenWebSocket,
  dial: (address, options) =>
    String(address).startsWith("proto+")
      ? dialProto(String(address).slice("proto+".length), observedAs(options, "dial", "proto-websocket"))
      : dial(address, observedAs(options, "dial", "websocket")),
};

async function dial(address: Address, options: WebSocketDialOptions): Promise<Connection> {
  const connect = (signal: AbortSignal | undefined): Promise<Link> => open(String(address), { ...options, signal });
  return dialLink(renewing(await connect(options.signal), { ...options, connect }), options);
}

/** proto-mcp in binary frames; JSON-RPC in text frames with a server that does not speak it. */
async function dialProto(address: string, options: WebSocketDialOptions): Promise<Connection> {
  const { encodings = ENCODINGS } = options;
  const connect = async (signal: AbortSignal | undefined): Promise<Link> => {
    const codec = new MessageCodec({ depth: options.limits?.depth ?? defaultLimits.depth });
    return greet(await open(address, { ...options, signal }, codec), codec, { ...options, encodings });
  };
  let first: Link;
  try {
    first = await connect(options.signal);
  } catch (error) {
    if (!(error instanceof NoProto)) throw error;
    if (options.jsonToo === false) throw error.fault;
    return dial(address, options);
  }
  return dialLink(renewing(first, { ...options, connect }), options);
}

async function open(address: string, options: WebSocketDialOptions, codec?: MessageCodec): Promise<Link> {
  const { socket, below } = await openSocket(address, options);
  socket.once("close", keepAlive(socket, below, options.pingMs ?? defaultTimeouts.pingMs));
  return socketLink(socket as unknown as Socket, options.limits, { codec, gather: below && gatherer(below) });
}
