import { Agent, request } from "node:http";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { connect, type Era } from "anywire";
import { listening } from "../child.js";
import { anywireEnd, type Make, type Pair, same, sdkEnd } from "../pairs.js";
import { WORKERS } from "../sizes.js";

/** Two ends of one make over Streamable HTTP, seen from the client; `pipe` is the floor: bare node:http. */
export async function openHttpPair(make: Make, era: Era): Promise<Pair> {
  const server = await (make === "anywire"
    ? listening("anywire", "plain", "http://127.0.0.1:0/mcp")
    : listening(make === "sdk" ? "sdk-http" : "bare-http"));
  const url = new URL(server.address);
  const end = await (make === "anywire"
    ? connect(server.address, { era }).then(anywireEnd)
    : make === "sdk"
      ? sdkEnd(era, new StreamableHTTPClientTransport(url))
      : bareEnd(url));
  return {
    ...end,
    async close() {
      await end.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The headers and the body of a modern call, sent on kept-alive connections to a server that gives the body back. */
function bareEnd(url: URL): Pair {
  const agent = new Agent({ keepAlive: true, maxSockets: WORKERS, maxFreeSockets: WORKERS });
  let id = 0;
  return {
    name: "node:http alone",
    async echo(text) {
      const body = JSON.stringify(callOf(++id, text));
      const back = JSON.parse(await post(url, agent, body)) as ReturnType<typeof callOf>;
      same({ type: "text", text: back.params.arguments.text }, text);
    },
    list: () => Promise.reject(new Error("node:http lists no tools")),
    async close() {
      agent.destroy();
    },
  };
}

function callOf(id: number, text: string): { readonly params: { readonly arguments: { readonly text: string } } } {
  return {
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: {
      name: "echo",
      arguments: { text },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "anywire", version: "0.1.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  } as ReturnType<typeof callOf>;
}

function post(url: URL, agent: Agent, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "echo",
    };
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.once("end", () => resolve(text));
      response.once("error", reject);
    });
    sent.once("error", reject);
    sent.end(body);
  });
}
