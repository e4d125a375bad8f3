import { type Connection, defaultTimeouts } from "../../../core/index.js";
import { dialLink } from "../../../era/index.js";
import { ToolHeaders } from "../tool-headers.js";
import { type HttpDialOptions, type HttpLinkParts, httpLinkOf } from "./link.js";
import { mirroring } from "./mirror.js";

/** Dials Streamable HTTP over whatever sends its requests: nothing of Node is needed. */
export async function dialHttpOver(url: URL, options: HttpDialOptions, client: HttpLinkParts["client"]): Promise<Connection> {
  const { auth, probeMs = defaultTimeouts.probeMs, handshakeMs = defaultTimeouts.handshakeMs } = options;
  // The first request may have to wait for a person to sign in.
  const patience = auth?.patienceMs ?? 0;
  const tools = new ToolHeaders();
  const link = httpLinkOf(url, options, { tools, client });
  return mirroring(await dialLink(link, { ...options, probeMs: probeMs + patience, handshakeMs: handshakeMs + patience }), tools);
}
