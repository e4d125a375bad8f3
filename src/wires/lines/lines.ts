import type { Address, Connection, DialOptions, Wire } from "../../core/index.js";
import { dialLink, type Link, observedAs, renewing } from "../../era/index.js";
import { openSocketLink, type TlsDialOptions } from "../../io/index.js";
import { listenLines } from "./listen.js";

export interface LinesDialOptions extends DialOptions {
  readonly tls?: TlsDialOptions | undefined;
}

/** Lines of JSON-RPC on a connection: `tcp://host:port`, `tls://host:port`, `unix:PATH`. */
export const lines: Wire = {
  name: "lines",
  accepts: (address) => typeof address === "string" && /^(tcp:\/\/|tls:\/\/|unix:)/.test(address),
  listen: listenLines,
  dial: (address, options) => dial(address, observedAs(options, "dial", "lines")),
};

async function dial(address: Address, options: LinesDialOptions): Promise<Connection> {
  const connect = (signal: AbortSignal | undefined): Promise<Link> => openSocketLink(String(address), { ...options, signal });
  return dialLink(renewing(await connect(options.signal), { ...options, connect }), options);
}
