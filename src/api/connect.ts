import { type Address, type ClientOptions, dialClient, type Layer, type McpClient, type Wire } from "../core/index.js";
import type { GrpcDialOptions } from "../wires/grpc/index.js";
import type { HttpDialOptions } from "../wires/http/index.js";
import type { ProtoDialOptions } from "../wires/protomcp/index.js";
import type { WebSocketDialOptions } from "../wires/websocket/index.js";
import { checkedAddress } from "./addresses.js";
import type { BaseToolsDialOptions } from "./base-tools.js";
import { wireFor } from "./wires.js";

export interface ConnectOptions
  extends ClientOptions,
    Omit<HttpDialOptions & WebSocketDialOptions & GrpcDialOptions & ProtoDialOptions & BaseToolsDialOptions, "client" | "onFault"> {
  /** Wires of your own, asked before those of the package. */
  readonly wires?: readonly Wire[];
  /** Layers around the connection; the first is the outermost. They see every call of the client, and its answers. */
  readonly layers?: readonly Layer[];
}

/** Connects a streaming client to the MCP server at an address. */
export async function connect(address: Address, options: ConnectOptions = {}): Promise<McpClient> {
  const at = checkedAddress(address, "connect");
  return dialClient(await wireFor(at, options.wires), at, options);
}
