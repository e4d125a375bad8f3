/** Headers that Connect and gRPC-Web clients send in addition to those of the protocol. */
const sent = [
  "Connect-Protocol-Version",
  "Connect-Timeout-Ms",
  "Connect-Content-Encoding",
  "Connect-Accept-Encoding",
  "Content-Encoding",
  "X-Grpc-Web",
  "X-User-Agent",
  "Grpc-Timeout",
  "X-Grpc-Timeout",
  "Anywire-Fields",
  "Anywire-Twins",
  "Traceparent",
  "Tracestate",
  "Baggage",
];

/** Headers of an answer that such clients have to read. */
const seen = [
  "Grpc-Status",
  "Grpc-Message",
  "Grpc-Status-Details-Bin",
  "Grpc-Encoding",
  "Content-Encoding",
  "Connect-Content-Encoding",
  "Mcp-Error-Code",
  "Mcp-Error-Data-Bin",
  "Mcp-Error-Cut",
  "Anywire-Twins",
];

/** The gate's headers for a page of another origin, with those of Connect and gRPC-Web. */
export function webHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const more = { ...headers };
  for (const [name, names] of [
    ["access-control-allow-headers", sent],
    ["access-control-expose-headers", seen],
  ] as const)
    if (more[name] !== undefined) more[name] = [more[name], ...names].join(", ");
  return more;
}
