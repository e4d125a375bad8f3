/** Content types of Connect and gRPC-Web. */
export const webContentType: RegExp = /^application\/(json|proto|connect\+(json|proto)|grpc-web(-text)?(\+(json|proto))?)\s*($|;)/i;

/** Explains what to do instead, for a request that is answered with only a status. */
export function explain(status: number, path: string): string {
  switch (status) {
    case 404:
      return `there is no ${path} here; methods have paths such as /mcp.v1.McpService/Ping, and server reflection lists them\n`;
    case 405:
      return "calls are made by POST\n";
    case 415:
      return [
        "the content type does not go with this call. It may be",
        "  application/json or application/proto for a call with one answer (Connect)",
        "  application/connect+json or application/connect+proto for a stream (Connect)",
        "  application/grpc-web+proto (gRPC-Web), application/grpc over HTTP/2 (gRPC)",
        "",
      ].join("\n");
    case 505:
      return "this call streams both ways, or is gRPC: it needs HTTP/2\n";
    default:
      return "";
  }
}
