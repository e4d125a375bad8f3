import { type Connection, type DialOptions, defaultTimeouts, Fault, type Wire } from "../../core/index.js";
import { dialLink, observedAs } from "../../era/index.js";
import { badAddress, unixPath } from "../../io/index.js";
import { type HttpDialOptions, httpLinkOf } from "./dial/link.js";
import { mirroring } from "./dial/mirror.js";
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

async function dial(address: string, options: DialOptions & HttpDialOptions): Promise<Connection> {
  const { auth, probeMs = defaultTimeouts.probeMs, handshakeMs = defaultTimeouts.handshakeMs } = options;
  const patience = auth?.patienceMs ?? 0;
  const tools = new ToolHeaders();
  if (address.startsWith("http+stdio:"))
    throw new Fault("invalid-params", "http+stdio: can be listened on; to dial, give the command to start");
  const socketPath = unixPath(address);
  const url = socketPath === undefined ? parse(address) : new URL("http://localhost/mcp");
  const link = httpLinkOf(url, options, { tools, socketPath });
  // The first request may have to wait for a person to sign in.
  return mirroring(await dialLink(link, { ...options, probeMs: probeMs + patience, handshakeMs: handshakeMs + patience }), tools);
}

function parse(address: string): URL {
  try {
    return new URL(address);
  } catch (error) {
    throw badAddress(`not a URL: ${address}`, error);
  }
}
