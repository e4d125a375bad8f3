import { type Address, type Connection, Fault, type Listener, MCP_PATH, type Service, SSE_PATH, type Wire } from "../core/index.js";
import { type Mount, placeOf, port, portListener } from "../io/index.js";
import type { ServeOptions } from "./serve.js";

/** Every wire on one port: `any://host:port`, `any+unix:PATH`. Clients dial the address of the wire that they speak. */
export const any: Wire = {
  name: "any",
  accepts: (address) => typeof address === "string" && /^any(\+unix)?:/.test(address),
  listen,
  dial: (): Promise<Connection> =>
    Promise.reject(
      new Fault(
        "invalid-params",
        "any: can be listened on, not dialed; dial one of the listener's addresses, such as http://host:port/mcp",
      ),
    ),
};

async function listen(service: Service, address: Address, options: ServeOptions): Promise<Listener> {
  const { carrier, hosts } = placeOf(address, "", options);
  const mounts = await everyWire(service, { ...hosts, ...options });
  const opened = await port(carrier, mounts, { ...options, plainToo: true });
  return portListener(opened, "path" in carrier ? `any+unix:${carrier.path}` : `any://${opened.authority}`);
}

/**
 * The mounts of all wires. Their order decides who gets a path that two of them have: a request to `/mcp` is Streamable HTTP, an upgrade is
 * WebSocket.
 */
async function everyWire(service: Service, options: ServeOptions): Promise<readonly Mount[]> {
  const [{ httpMount }, { sseMount }, { webSocketMount }, { grpcMount }, { linesMount }, { protoMount }] = await Promise.all([
    import("../wires/http/index.js"),
    import("../wires/sse/index.js"),
    import("../wires/websocket/index.js"),
    import("../wires/grpc/index.js"),
    import("../wires/lines/index.js"),
    import("../wires/protomcp/index.js"),
  ]);
  const base = (options.basePath ?? "").replace(/\/+$/, "");
  const legacy = options.eras?.includes("legacy") ?? true;
  return [
    httpMount(service, { ...options, path: `${base}${MCP_PATH}` }),
    ...(legacy ? [sseMount(service, options, `${base}${SSE_PATH}`)] : []),
    webSocketMount(service, options, [`${base}${MCP_PATH}`, `${base}/ws`]),
    grpcMount(service, options),
    linesMount(service, options),
    protoMount(service, options),
    webSocketMount(service, options, [`${base}/proto`], true),
  ];
}
