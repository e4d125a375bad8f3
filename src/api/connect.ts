import {
  type Address,
  type ClientOptions,
  type Connection,
  clientCapabilities,
  clientInfo,
  createClient,
  type Layer,
  layered,
  type McpClient,
  type Wire,
} from "../core/index.js";
import type { GrpcDialOptions } from "../wires/grpc/index.js";
import type { HttpDialOptions } from "../wires/http/index.js";
import type { ProtoDialOptions } from "../wires/protomcp/index.js";
import type { WebSocketDialOptions } from "../wires/websocket/index.js";
import { checkedAddress } from "./addresses.js";
import { wireFor } from "./wires.js";

export interface ConnectOptions
  extends ClientOptions,
    Omit<HttpDialOptions & WebSocketDialOptions & GrpcDialOptions & ProtoDialOptions, "client" | "onFault"> {
  /** Your own wires, which are tried before the built-in ones. */
  readonly wires?: readonly Wire[];
  /** Layers around the connection; the first is the outermost. They see every call of the client, and its answers. */
  readonly layers?: readonly Layer[];
}

/** Connects a streaming client to the MCP server at an address. */
export async function connect(address: Address, options: ConnectOptions = {}): Promise<McpClient> {
  const at = checkedAddress(address, "connect");
  const wire = await wireFor(at, options.wires);
  // A legacy server gets the capabilities in the handshake, a modern one with every request.
  const client = { info: options.info ?? clientInfo, capabilities: clientCapabilities(options, "legacy") };
  const connection = await wire.dial(at, { ...options, client });
  return createClient(wrapped(connection, options.layers ?? []), options);
}

function wrapped(connection: Connection, layers: readonly Layer[]): Connection {
  if (layers.length === 0) return connection;
  const service = layered(connection, ...layers);
  return {
    call: (request, context) => service.call(request, context),
    notify: (notification, context) => service.notify(notification, context),
    era: connection.era,
    protocolVersion: connection.protocolVersion,
    closed: connection.closed,
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
