import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { McpService } from "../../../src/codec/gen/mcp/v1/mcp_pb.js";
import type { Caller } from "../caller.js";
import { legacyCaller, modernCaller, type RawPeer } from "./raw.js";
import { type Headers, rpcPeer } from "./rpc.js";

/** Connect as browsers have it: `fetch`, and JSON. */
function connectPeer(address: string, headers: Headers): RawPeer {
  const client = createClient(McpService, createConnectTransport({ baseUrl: address.replace("grpc:", "http:"), useBinaryFormat: false }));
  const gone = new AbortController();
  const { signal } = gone;
  const rpcs = {
    callTool: (request, headers) => client.callTool(request, { headers, signal }),
    callToolWithProgress: (request, headers) => client.callToolWithProgress(request, { headers, signal }),
    readResource: (request, headers) => client.readResource(request, { headers, signal }),
    close: async () => gone.abort(),
  } satisfies Parameters<typeof rpcPeer>[0];
  return rpcPeer(rpcs, headers);
}

export async function connectCaller(name: string, address: string, headers: Headers = {}): Promise<Caller> {
  return modernCaller(name, connectPeer(address, headers));
}

/** A legacy client that never opened a session. */
export async function legacyConnectCaller(name: string, address: string): Promise<Caller> {
  return legacyCaller(name, connectPeer(address, {}));
}
