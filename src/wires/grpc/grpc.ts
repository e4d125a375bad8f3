import type { Wire } from "../../core/index.js";
import { dial } from "./dial/dial.js";
import { listen } from "./listen/listen.js";
import { dialStdio, listenStdio } from "./stdio.js";

/** gRPC: the typed service `mcp.v1.McpService`, and the tunnel of JSON-RPC messages. */
export const grpc: Wire = {
  name: "grpc",
  accepts: (address) =>
    typeof address === "string" ? /^(tunnel\+)?grpc(s|\+unix|\+stdio)?:/.test(address) : address.speaks === "grpc+stdio",
  listen: (service, address, options) => (address === "grpc+stdio:" ? listenStdio(service, options) : listen(service, address, options)),
  dial: (address, options) => (typeof address === "string" ? dial(address, options) : dialStdio(address, options)),
};
