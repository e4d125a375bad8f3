import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { McpService } from "../../../src/codec/gen/mcp/v1/mcp_pb.js";
import type { Caller } from "../caller.js";
import { modernCaller } from "./raw.js";
import { type Headers, rpcPeer } from "./rpc.js";

/** A modern client of Connect as browsers have it: `fetch`, and JSON. */
export async function connectCaller(name: string, address: string, headers: Headers = {}): Promise<Caller> {
  const client = createClient(McpService, createConnectTransport({ baseUrl: address.replace("grpc:", "http:"), useBinaryFormat: false }));
  const gone = new AbortController();
  const { signal } = gone;
  return modernCaller(
    name,
    rpcPeer(
      {
        callTool: (request, headers) => client.callTool(request, { headers, signal }),
        callToolWithProgress: (request, headers) => client.callToolWithProgress(request, { headers, signal }),
        readResource: (request, headers) => client.readResource(request, { headers, signal }),
        close: async () => gone.abort(),
      },
      headers,
    ),
  );
}
