import type { Wire } from "../../core/index.js";
import { observedAs } from "../../era/index.js";
import { dial } from "./dial/dial.js";
import { listenGrpc } from "./listen/listen.js";
import { dialGrpcStdio, listenGrpcStdio } from "./stdio.js";

/** gRPC: the typed service `mcp.v1.McpService`, and the tunnel of JSON-RPC messages. */
export const grpc: Wire = {
  name: "grpc",
  accepts: (address) =>
    typeof address === "string" ? /^(tunnel\+)?grpc(s|\+unix|\+stdio)?:/.test(address) : address.speaks === "grpc+stdio",
  listen: (service, address, options) =>
    address === "grpc+stdio:" ? listenGrpcStdio(service, options) : listenGrpc(service, address, options),
  dial(address, given) {
    const options = observedAs(given, "dial", "grpc");
    return typeof address === "string" ? dial(address, options) : dialGrpcStdio(address, options);
  },
};
