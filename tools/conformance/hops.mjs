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
};

/** Scenarios of 2026-07-28 that no bridge passes on through a legacy wire: they answer under a key of the server's, and legacy has none. */
export const notThroughLegacy = ["input-required-result-basic-elicitation", "input-required-result-ignore-extra-params"];
