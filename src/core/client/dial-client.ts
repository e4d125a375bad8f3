import { type Layer, layered } from "../service.js";
import type { Address, Connection, DialOptions, Wire } from "../wire.js";
import { clientCapabilities } from "./asks.js";
import { clientInfo, createClient } from "./client.js";
import type { McpClient } from "./mcp-client.js";
import type { ClientOptions } from "./options.js";

/** What a client needs of a wire. */
export type DialWire = Pick<Wire, "name" | "accepts" | "dial">;

/** Dials an address and makes a streaming client of the connection, with layers around it, the first outermost. */
export async function dialClient(
  wire: DialWire,
  address: Address,
  { layers = [], ...options }: ClientOptions & Omit<DialOptions, "client" | "onFault"> & { readonly layers?: readonly Layer[] },
): Promise<McpClient> {
  // A legacy server takes the capabilities from the handshake; a modern one from every request.
  const client = { info: options.info ?? clientInfo, capabilities: clientCapabilities(options, "legacy") };
  const connection = await wire.dial(address, { ...options, client });
  return createClient(wrapped(connection, layers), options);
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
