import { type OutgoingRequest, serialise } from "../../../codec/index.js";
import { type Cancel, lowerCase, meta, newestVersions } from "../../../core/index.js";
import { authorized, type HttpClient, httpClient } from "../../../io/index.js";
import type { HttpDialOptions } from "./link.js";

/** The link whose server is asked. */
export interface Probed {
  legacy(): boolean;
  /** Fires when the link is closed. */
  readonly cancel: Cancel;
  headers(message: OutgoingRequest): Record<string, string>;
}

/** A client that connects to the host of the URL, or to a Unix socket, and asks a server that is long silent whether it is there. */
export function probingClient(url: URL, options: HttpDialOptions, probed: Probed, socketPath?: string): HttpClient {
  const { tls, pingMs, deadMs } = options;
  const client = httpClient({ tls, pingMs, deadMs, socketPath, probe: () => probe(url, options, probed, socketPath) });
  return options.auth === undefined ? client : authorized(client, options.auth);
}

/** Asks a server on a new connection whether it is there: whatever it answers, it is. Rejects if nothing comes. */
async function probe(
  url: URL,
  { tls, pingMs, deadMs, auth }: HttpDialOptions,
  { legacy, cancel, headers }: Probed,
  socketPath: string | undefined,
): Promise<void> {
  const message = legacy() ? ping : discover;
  const client = httpClient({ tls, pingMs, deadMs, socketPath });
  try {
    const credentials = lowerCase(await auth?.headers({ method: "POST", url }));
    const all = { ...headers(message), ...credentials };
    await client.send("POST", url, { headers: all, body: serialise(message), awaits: "head", cancel });
  } finally {
    client.close();
  }
}

const ping: OutgoingRequest = { jsonrpc: "2.0", id: "anywire-alive", method: "ping" };
const discover: OutgoingRequest = {
  jsonrpc: "2.0",
  id: "anywire-alive",
  method: "server/discover",
  params: {
    _meta: {
      [meta.protocolVersion]: newestVersions.modern,
      [meta.clientInfo]: { name: "anywire", version: "0" },
      [meta.clientCapabilities]: {},
    },
  },
};
