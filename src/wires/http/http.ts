import { type Connection, Fault, MCP_PATH, type Wire } from "../../core/index.js";
import { type Link, observedAs } from "../../era/index.js";
import { badAddress, unixPath } from "../../io/index.js";
import { type HttpDialOptions, httpLinkOf } from "./dial/link.js";
import { dialHttpOver } from "./dial/over.js";
import { probingClient } from "./dial/probe.js";
import { listenHttp } from "./listen.js";
import { dialHttpStdio, listenHttpStdio } from "./stdio.js";
import { ToolHeaders } from "./tool-headers.js";

/** Streamable HTTP of both eras. */
export const http: Wire = {
  name: "http",
  accepts: (address) =>
    typeof address === "string" ? /^(https?:\/\/|http\+(unix|stdio):)/.test(address) : address.speaks === "http+stdio",
  listen: (service, address, options) =>
    address === "http+stdio:" ? listenHttpStdio(service, options) : listenHttp(service, address, options),
  dial(address, given) {
    const options = observedAs(given, "dial", "http");
    return typeof address === "string" ? dial(address, options) : dialHttpStdio(address, options);
  },
};

async function dial(address: string, options: HttpDialOptions): Promise<Connection> {
  if (address.startsWith("http+stdio:"))
    throw new Fault("invalid-params", "http+stdio: can be listened on; to dial, give the command to start");
  const socketPath = unixPath(address);
  const url = socketPath === undefined ? parse(address) : new URL(MCP_PATH, "http://localhost");
  return dialHttpOver(url, options, (probed) => probingClient(url, options, probed, socketPath));
}

/** A link to an HTTP endpoint, for whoever speaks an era of its own on it. */
export function httpLink(url: URL, options: HttpDialOptions = {}): Link {
  return httpLinkOf(url, options, { tools: new ToolHeaders(), client: (probed) => probingClient(url, options, probed) });
}

function parse(address: string): URL {
  try {
    return new URL(address);
  } catch (error) {
    throw badAddress(`not a URL: ${address}`, error);
  }
}
