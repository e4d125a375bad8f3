import { type OutgoingRequest, serialise } from "../../../codec/index.js";
import { type Cancel, meta, newest } from "../../../core/index.js";
import { httpClient } from "../../../io/index.js";
import type { HttpDialOptions } from "./link.js";

export interface ProbeOptions {
  readonly options: HttpDialOptions;
  readonly socketPath?: string | undefined;
  readonly legacy: boolean;
  readonly cancel: Cancel;
  headers(message: OutgoingRequest): Record<string, string>;
}

/** Asks a server on a new connection whether it is there. Any answer means yes. Rejects if nothing comes. */
export async function probe(url: URL, { options, socketPath, legacy, cancel, headers }: ProbeOptions): Promise<void> {
  const message = legacy ? ping : discover;
  const { tls, pingMs, deadMs, auth } = options;
  const client = httpClient({ tls, pingMs, deadMs, socketPath });
  try {
    const credentials = await auth?.headers({ method: "POST", url });
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
      [meta.protocolVersion]: newest.modern,
      [meta.clientInfo]: { name: "anywire", version: "0" },
      [meta.clientCapabilities]: {},
    },
  },
};
