import type { MessageInitShape } from "@bufbuild/protobuf";
import type { JsonObject } from "../../../src/api/index.js";
import type {
  CallToolRequestSchema,
  CallToolResponse,
  CallToolWithProgressRequestSchema,
  CallToolWithProgressResponse,
  ReadResourceRequestSchema,
  ReadResourceResponse,
} from "../../../src/codec/gen/mcp/v1/mcp_pb.js";
import { metaOf, shown, toolCall, toolResult } from "./mcp-v1.js";
import type { RawPeer } from "./raw.js";

export type Headers = Readonly<Record<string, string>>;

/** The RPCs of `mcp.v1.McpService` that have one request, by whatever client. */
export interface Rpcs {
  callTool(request: MessageInitShape<typeof CallToolRequestSchema>, headers: Headers): Promise<CallToolResponse>;
  callToolWithProgress(
    request: MessageInitShape<typeof CallToolWithProgressRequestSchema>,
    headers: Headers,
  ): AsyncIterable<CallToolWithProgressResponse>;
  readResource(request: MessageInitShape<typeof ReadResourceRequestSchema>, headers: Headers): Promise<ReadResourceResponse>;
  close(): Promise<void>;
}

/** The tools that send something before they answer: only a call with progress has a place for that. */
const telling = new Set(["log", "levels", "note"]);

/** A peer whose every request is an RPC of its own. */
export function rpcPeer(rpcs: Rpcs, headers: Headers = {}, heard: string[] = []): RawPeer {
  const hear = <T>(message: T): T => {
    heard.push(shown(message));
    return message;
  };
  const told = async (params: JsonObject): Promise<JsonObject> => {
    // The header says that notifications within the stream of an RPC are understood.
    for await (const { update } of streamed(rpcs.callToolWithProgress(toolCall(params), { ...headers, "anywire-twins": "1" }), hear)) {
      if (update.case === "result") return toolResult(update.value);
      if (update.case === "error") throw new Error(update.value.message);
    }
    throw new Error("the stream ended without a result");
  };
  return {
    heard,
    close: () => rpcs.close(),
    async request(method, params) {
      try {
        if (method === "resources/read") {
          const { contents } = hear(await rpcs.readResource({ uri: String(params["uri"]), ...metaOf(params) }, headers));
          return { contents: contents.map(({ content }) => ({ text: content.value })) };
        }
        if (telling.has(String(params["name"]))) return await told(params);
        return toolResult(hear(await rpcs.callTool(toolCall(params), headers)));
      } catch (error) {
        heard.push(String(error));
        throw error;
      }
    },
  };
}

async function* streamed<T>(messages: AsyncIterable<T>, hear: (message: T) => T): AsyncGenerator<T> {
  for await (const message of messages) yield hear(message);
}
