import type { DialWire } from "../core/index.js";
import { observedAs } from "../era/index.js";
import { dialRpcs, isUnary } from "../wires/grpc/dial/connect.js";
import { connectChannel } from "./connect-channel.js";
import { type FetchDialOptions, ownFetch } from "./fetch-options.js";

/** The typed service `mcp.v1` by the Connect protocol, which every gRPC listener of Anywire answers: `grpc(s)://`. */
export const connectWire: DialWire = {
  name: "grpc",
  accepts: (address) => typeof address === "string" && /^grpcs?:\/\//.test(address),
  dial(address, given: FetchDialOptions) {
    const options = observedAs(given, "dial", "grpc");
    const { origin } = new URL(String(address).replace(/^grpc/, "http"));
    const messageBytes = options.limits?.messageBytes;
    return dialRpcs(connectChannel(origin, { fetch: given.fetch ?? ownFetch, messageBytes, isUnary }), options);
  },
};
