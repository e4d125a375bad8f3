import {
  type Address,
  type Connection,
  type DialOptions,
  type Listener,
  type ListenOptions,
  listenerOf,
  type Service,
  type Wire,
} from "../../core/index.js";
import { dialLink, observedAs } from "../../era/index.js";
import { badAddress, httpHost, nodeExchange, placeOf } from "../../io/index.js";
import { type HttpDialOptions, httpLink } from "./dial/link.js";
import { mirroring } from "./dial/mirror.js";
import { httpEndpoint } from "./endpoint.js";
import type { HttpOptions } from "./options.js";
import { ToolHeaders } from "./tool-headers.js";

/** Streamable HTTP of both eras. */
export const http: Wire = {
  name: "http",
  accepts: (address) => typeof address === "string" && /^https?:\/\//.test(address),
  listen,
  dial: (address, options) => dial(address, observedAs(options, "dial", "http")),
};

async function listen(service: Service, address: Address, options: ListenOptions & HttpOptions): Promise<Listener> {
  const place = placeOf(address, "/mcp", options);
  const endpoint = httpEndpoint(service, { path: place.path, ...options });
  const host = await httpHost({
    hostname: place.hostname,
    port: place.port,
    tls: options.tls,
    insecure: options.insecure,
    auth: options.auth,
    headersMs: options.headersMs,
    keepAliveMs: options.keepAliveMs,
    limits: options.limits,
    request: (request, response) =>
      void endpoint.handle(nodeExchange(request, response, { bodyMs: 4 * (options.headersMs ?? 15_000), limits: options.limits })),
  }).catch((fault) => {
    void endpoint.close();
    throw fault;
  });
  return listenerOf(place.dialed(host.port), async () => {
    await endpoint.close();
    await host.close();
  });
}

async function dial(address: Address, options: DialOptions & HttpDialOptions): Promise<Connection> {
  const { auth, probeMs = 10_000, handshakeMs = 60_000 } = options;
  const patience = auth?.patienceMs ?? 0;
  const tools = new ToolHeaders();
  const link = httpLink(parse(address), options, tools);
  // The first request may have to wait for a person to sign in.
  return mirroring(await dialLink(link, { ...options, probeMs: probeMs + patience, handshakeMs: handshakeMs + patience }), tools);
}

function parse(address: Address): URL {
  try {
    return new URL(String(address));
  } catch (error) {
    throw badAddress(`not a URL: ${String(address)}`, error);
  }
}
