import { type ClientOptions, type DialOptions, type DialWire, dialClient, Fault, type Layer, type McpClient } from "../core/index.js";
import type { FetchOptions } from "./fetch-options.js";

export interface PageConnectOptions extends ClientOptions, Omit<DialOptions, "client" | "onFault" | "onStderr">, FetchOptions {
  /** The wires that the page can speak: `httpWire`, `webSocketWire`, `connectWire`. Those that are not named here are not bundled. */
  readonly wires: readonly DialWire[];
  /** Around the connection, the first outermost: they see every call of the client, and its answers. */
  readonly layers?: readonly Layer[];
}

/** Connects a page to whatever speaks MCP at an address. */
export async function connectPage(address: string | URL, options: PageConnectOptions): Promise<McpClient> {
  const at = String(address);
  const wire = options.wires.find((each) => each.accepts(at));
  if (wire === undefined) {
    const names = options.wires.map(({ name }) => name).join(", ") || "none";
    throw new Fault("invalid-params", `no wire for the address ${JSON.stringify(at)}; in \`wires\` are: ${names}`);
  }
  return dialClient(wire, at, options);
}
