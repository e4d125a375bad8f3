/** The wires between two bridges, by the names that `--through` takes. */
export const hops = {
  stdio: { listen: "stdio:", speaks: "stdio" },
  // HTTP+SSE is a wire of the legacy era: the bridges speak that between them.
  sse: { listen: "sse+http://127.0.0.1:0/sse", legacy: true },
  ws: { listen: "ws://127.0.0.1:0/mcp" },
  session: { listen: "grpc://127.0.0.1:0" },
  unary: { listen: "grpc://127.0.0.1:0", dial: { calls: "rpc" } },
  tunnel: { listen: "tunnel+grpc://127.0.0.1:0" },
  "http+stdio": { listen: "http+stdio:", speaks: "http+stdio" },
  lines: { listen: "tcp://127.0.0.1:0" },
  proto: { listen: "proto+tcp://127.0.0.1:0" },
  "proto+stdio": { listen: "proto+stdio:", speaks: "proto+stdio" },
  "proto+ws": { listen: "proto+ws://127.0.0.1:0/mcp" },
  "proto+grpc": { listen: "proto+grpc://127.0.0.1:0" },
};

/** Scenarios of 2026-07-28 that no bridge can pass on through a legacy wire, and why. */
export const notThroughLegacy = {
  "input-required-result-basic-elicitation": "wants the question under the server's own key, and a legacy question has no key",
  "input-required-result-ignore-extra-params":
    "answers before it is asked, under the server's own key, which a legacy request cannot carry (the suite only warns)",
};
