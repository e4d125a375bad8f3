import type { IncomingHttpHeaders } from "node:http2";

/** See Exchange.hosts. Node shows only the first of repeated `Host` headers, so this checks the raw headers. */
export function hostsOf(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): readonly string[] {
  const { host, ":authority": authority } = headers;
  let times = 0;
  if (host !== undefined) for (let at = 0; at < rawHeaders.length; at += 2) if (isHost(rawHeaders[at] ?? "")) times++;
  if (times > 1) return [];
  // A proxy that sets the host, or received it over HTTP/1.1, passes on only the header.
  return [host, authority].filter((each) => typeof each === "string");
}

function isHost(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === "host";
}
