const denoHttp2 =
  "Deno's HTTP/2 server may abort the process when a client leaves (`nghttp2_session.c: Assertion stream->closed_next == NULL failed`, Deno 2.9.6; about one client in eight here). Serve another wire from Deno. A server on pipes has one client, and ends with it.";

/** Cells that cannot be relied on, and why: `runtime wire side`. They are not run. */
export const unsupported = {
  "Deno grpc server": denoHttp2,
  "Deno tunnel+grpc server": denoHttp2,
  "Deno proto+grpc server": denoHttp2,
  "Deno grpcs server": denoHttp2,
  "Deno grpc+unix server": denoHttp2,
};
