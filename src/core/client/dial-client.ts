import type { Layer } from "../service.js";
import { type Address, type DialOptions, layeredConnection, type Wire } from "../wire.js";
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
  return createClient(layeredConnection(connection, ...layers), options);
}
