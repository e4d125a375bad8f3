import type { IncomingHttpHeaders } from "node:http2";

/** See Exchange.hosts. Of a repeated `Host` Node shows the first alone, so the raw headers are looked at. */
export function hostsOf(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): readonly string[] {
  const { host, ":authority": authority } = headers;
  let times = 0;
  if (host !== undefined) for (let at = 0; at < rawHeaders.length; at += 2) if (isHost(rawHeaders[at] ?? "")) times++;
  if (times > 1) return [];
  // A proxy that sets the host, or had it of HTTP/1.1, passes it on as the header alone.
  return [host, authority].filter((each) => typeof each === "string");
}

function isHost(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === "host";
}
