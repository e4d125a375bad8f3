import type { Wire } from "../../core/index.js";
import { observedAs } from "../../era/index.js";
import { dial } from "./dial/dial.js";
import { listenGrpc } from "./listen/listen.js";
import { dialProto } from "./protomcp/dial.js";
import { dialGrpcStdio, listenGrpcStdio } from "./stdio.js";

/** gRPC: the typed service `mcp.v1.McpService`, the tunnel of JSON-RPC messages, and `buf.mcp.v1.MCPService`. */
export const grpc: Wire = {
  name: "grpc",
  accepts: (address) =>
    typeof address === "string" ? /^((tunnel|proto)\+)?grpc(s|\+unix|\+stdio)?:/.test(address) : address.speaks === "grpc+stdio",
  listen: (service, address, options) =>
    address === "grpc+stdio:" ? listenGrpcStdio(service, options) : listenGrpc(service, address, options),
  dial(address, given) {
    if (typeof address === "string" && address.startsWith("proto+")) return dialProto(address, given);
    const options = observedAs(given, "dial", "grpc");
    return typeof address === "string" ? dial(address, options) : dialGrpcStdio(address, options);
  },
};
