import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2, SSEClientTransport as SseV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SseV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Command, JsonObject } from "../../../src/api/index.js";
import { meta } from "../../../src/core/index.js";
import { answerOf, type Caller, contentOf, offered, textOf } from "../caller.js";
import type { Headers } from "./rpc.js";
import { fetchOnSocket } from "./sockets.js";

type TransportV1 = Parameters<ClientV1["connect"]>[0];
type TransportV2 = Parameters<ClientV2["connect"]>[0];
const info = { name: "sdk", version: "0" };

/** Keeps what arrives: the SDK's clients call whoever was there before them. */
function tap(transport: { onmessage?: ((message: never) => void) | undefined }): string[] {
  const heard: string[] = [];
  transport.onmessage = (message: unknown) => void heard.push(JSON.stringify(message));
  return heard;
}

/** The official SDK's client of version 1, which is legacy. */
export async function sdkV1Caller(name: string, transport: TransportV1): Promise<Caller> {
  const client = new ClientV1(info, { capabilities: offered });
  const answer = answerOf(name);
  client.setRequestHandler(ElicitRequestSchema, ({ method, params }) => answer(method, params) as Promise<never>);
  client.setRequestHandler(CreateMessageRequestSchema, ({ method, params }) => answer(method, params) as Promise<never>);
  client.setRequestHandler(ListRootsRequestSchema, ({ method }) => answer(method, {}) as Promise<never>);
  const heard = tap(transport);
  await client.connect(transport);
  return {
    name,
    heard,
    call: async (tool, args) => textOf((await client.callTool({ name: tool, arguments: args })) as JsonObject),
    read: async (uri) => contentOf((await client.readResource({ uri })) as JsonObject),
    close: () => client.close(),
  };
}

/** The official SDK's client of version 2, in either era. */
export async function sdkV2Caller(name: string, era: "legacy" | "modern", transport: TransportV2): Promise<Caller> {
  const mode = era === "legacy" ? "legacy" : { pin: "2026-07-28" };
  const client = new ClientV2(info, { capabilities: offered, versionNegotiation: { mode } });
  const answer = answerOf(name);
  client.setRequestHandler("elicitation/create", ({ method, params }) => answer(method, params as JsonObject) as Promise<never>);
  client.setRequestHandler("sampling/createMessage", ({ method, params }) => answer(method, params as JsonObject) as Promise<never>);
  client.setRequestHandler("roots/list", ({ method }) => answer(method, {}) as Promise<never>);
  const heard = tap(transport);
  await client.connect(transport);
  return {
    name,
    heard,
    async call(tool, args, logLevel = "debug") {
      const _meta = era === "modern" && logLevel !== "" ? { [meta.logLevel]: logLevel } : {};
      return textOf((await client.callTool({ name: tool, arguments: args, _meta })) as JsonObject);
    },
    read: async (uri) => contentOf((await client.readResource({ uri })) as JsonObject),
    close: () => client.close(),
  };
}

const command = ({ command, args = [] }: Command): { command: string; args: string[] } => ({ command, args: [...args] });

/** Where the socket is what counts. */
const anyHost = new URL("http://localhost/mcp");

export const transports = {
  v1: {
    stdio: (child: Command): TransportV1 => new StdioV1(command(child)),
    http: (url: string): TransportV1 => new HttpV1(new URL(url)) as TransportV1,
    httpOnSocket: (path: string): TransportV1 => new HttpV1(anyHost, { fetch: fetchOnSocket(path) }) as TransportV1,
    sse: (url: string): TransportV1 => new SseV1(new URL(url)),
  },
  v2: {
    stdio: (child: Command): TransportV2 => new StdioV2(command(child)),
    http: (url: string, headers: Headers = {}): TransportV2 => new HttpV2(new URL(url), { requestInit: { headers } }),
    sse: (url: string): TransportV2 => new SseV2(new URL(url)),
  },
};
