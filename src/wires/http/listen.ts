import { type Address, bodyMsOf, defaultTimeouts, type Listener, MCP_PATH, type Service } from "../../core/index.js";
import { type Bound, type Mount, nodeExchange, placeOf, port, portListener } from "../../io/index.js";
import { httpEndpoint } from "./endpoint.js";
import type { HttpOptions } from "./options.js";

/** Streamable HTTP on a port, at `/mcp` unless the options name another path. */
export function httpMount(service: Service, options: HttpOptions): Mount {
  const { path = MCP_PATH, headersMs = defaultTimeouts.headersMs, limits } = options;
  const endpoint = httpEndpoint(service, { ...options, path });
  return {
    wire: "http",
    addresses: (bound) => [{ wire: "http", address: addressOf(bound, path) }],
    claims: (asked) => asked === path,
    request: (request, response) => void endpoint.handle(nodeExchange(request, response, { bodyMs: bodyMsOf(headersMs), limits })),
    exchange: (exchange) => void endpoint.handle(exchange),
    // A legacy client answers the questions of its calls with separate requests.
    connectsWhileDraining: true,
    close: () => endpoint.close(),
  };
}

export async function listenHttp(service: Service, address: Address, options: HttpOptions): Promise<Listener> {
  const { carrier, path, hosts } = placeOf(address, MCP_PATH, options);
  const mount = httpMount(service, { path, ...hosts, ...options });
  return portListener(await port(carrier, [mount], options));
}

function addressOf({ secure, authority, path: socket }: Bound, path: string): string {
  return socket === undefined ? `http${secure ? "s" : ""}://${authority}${path}` : `http+unix:${socket}`;
}
