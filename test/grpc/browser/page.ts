import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { McpService } from "../../../src/codec/gen/mcp/v1/mcp_pb.js";
import { clientCapabilities, clientInfo, createClient as createMcpClient } from "../../../src/core/index.js";
import { dialLink } from "../../../src/era/index.js";
import { socketLink } from "../../../src/wires/websocket/index.js";

/** What runs in the page. Each call shows what arrives as it arrives, one line each. */
export interface Page {
  list(protocol: string, url: string): Promise<void>;
  progress(protocol: string, url: string): Promise<void>;
  unary(protocol: string, url: string): Promise<string>;
  /** A call that fails: its code and the JSON-RPC code. */
  failing(protocol: string, url: string): Promise<string>;
  socket(url: string): Promise<string>;
}

const transports: Record<string, (baseUrl: string) => Transport> = {
  "Connect JSON": (baseUrl) => createConnectTransport({ baseUrl }),
  "Connect binary": (baseUrl) => createConnectTransport({ baseUrl, useBinaryFormat: true }),
  "gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl }),
};

function clientOf(protocol: string, url: string) {
  const transport = transports[protocol];
  if (transport === undefined) throw new Error(`no protocol ${protocol}`);
  return createClient(McpService, transport(url));
}

function show(line: string): void {
  const item = document.createElement("li");
  item.textContent = line;
  document.body.append(item);
}

/** Connect's stream without any library: five bytes of flags and length, then JSON. */
async function* byHand(url: string, method: string, request: object): AsyncGenerator<Record<string, never>> {
  const json = new TextEncoder().encode(JSON.stringify(request));
  const body = new Uint8Array(5 + json.length);
  new DataView(body.buffer).setUint32(1, json.length);
  body.set(json, 5);
  const response = await fetch(`${url}/mcp.v1.McpService/${method}`, {
    method: "POST",
    headers: { "content-type": "application/connect+json", "connect-protocol-version": "1" },
    body,
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let held = new Uint8Array();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const joined = new Uint8Array(held.length + value.length);
    joined.set(held);
    joined.set(value, held.length);
    held = joined;
    for (;;) {
      const view = new DataView(held.buffer, held.byteOffset);
      if (held.length < 5 || held.length < 5 + view.getUint32(1)) break;
      const end = 5 + view.getUint32(1);
      const message = JSON.parse(new TextDecoder().decode(held.subarray(5, end)));
      const last = (view.getUint8(0) & 2) !== 0;
      held = held.slice(end);
      if (!last) yield message;
      else if (message.error !== undefined) throw new Error(message.error.code);
    }
  }
}

const page: Page = {
  async list(protocol, url) {
    const tools = protocol === "fetch alone" ? byHand(url, "ListTools", {}) : clientOf(protocol, url).listTools({});
    for await (const { tool } of tools) show(String(tool?.name));
    show("end");
  },

  async progress(protocol, url) {
    for await (const { update } of clientOf(protocol, url).callToolWithProgress({ name: "count", arguments: { n: 3 } }))
      show(update.case === "progress" ? String(update.value.message) : String(update.case));
  },

  async unary(protocol, url) {
    const { content } = await clientOf(protocol, url).callTool({ name: "echo", arguments: { text: "wörld 🌍" } });
    const first = content[0]?.content;
    return first?.case === "text" ? String(first.value.text) : "no text";
  },

  async failing(protocol, url) {
    try {
      await clientOf(protocol, url).callTool({ name: "none" });
      return "it did not fail";
    } catch (error) {
      const { code, metadata } = error as { code: number; metadata: Headers };
      return `${code} ${metadata.get("mcp-error-code")}`;
    }
  },

  async socket(url) {
    const socket = new WebSocket(url, ["mcp"]);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error("the socket did not open"));
    });
    const connection = await dialLink(socketLink(socket), { client: { info: clientInfo, capabilities: clientCapabilities({}, "legacy") } });
    const client = await createMcpClient(connection, {});
    for await (const { name } of client.tools()) show(name);
    const { content } = await client.callTool("echo", { text: "wörld 🌍" });
    await client.close();
    return `${connection.era} ${JSON.stringify(content)}`;
  },
};

Object.assign(globalThis, { page });
