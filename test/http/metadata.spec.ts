import { createServer as createHttp, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { connect, createServer, type JsonObject, type Server, serve, wireFor } from "../../src/api/index.js";
import { encodeMessage } from "../../src/codec/mcpv1/index.js";
import { begin, call, modern, postModern } from "./requests.js";

const trace = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "a=1,b=2",
  baggage: "user=alice",
};
const other = "00-11111111111111111111111111111111-2222222222222222-00";

interface Peer extends AsyncDisposable {
  readonly url: string;
  readonly seen: { readonly method: string; readonly headers: IncomingHttpHeaders; readonly params: JsonObject }[];
}

/** A raw HTTP server of either era that keeps what it gets. */
async function peer(era: "modern" | "legacy"): Promise<Peer> {
  const seen: { method: string; headers: IncomingHttpHeaders; params: JsonObject }[] = [];
  const server = createHttp((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const { id, method, params } = JSON.parse(text) as { id?: number; method: string; params: JsonObject };
      seen.push({ method, headers: request.headers, params });
      if (id === undefined) return void response.writeHead(202).end();
      const results: Record<string, JsonObject> = {
        "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, resultType: "complete" },
        initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "raw", version: "0" } },
      };
      const known = method !== "server/discover" || era === "modern";
      const outcome = known ? { result: results[method] ?? { content: [] } } : { error: { code: -32601, message: "unknown" } };
      response.writeHead(200, { "content-type": "application/json", ...(method === "initialize" && { "mcp-session-id": "s" }) });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe.each(["modern", "legacy"] as const)("a call that is dialed over HTTP, %s", (era) => {
  it("brings its metadata and its trace in headers", async () => {
    await using at = await peer(era);
    await using client = await connect(at.url, { era, headers: { authorization: "Bearer all", "x-all": "1" } });
    await client.callTool("t", {}, { metadata: { "x-tenant": "a", "X-Many": ["1", "2"], authorization: "Bearer one" }, trace });
    await client.callTool("t");
    const [first, second] = at.seen.filter(({ method }) => method === "tools/call");
    expect(first?.headers).toMatchObject({ "x-tenant": "a", "x-many": "1,2", authorization: "Bearer one", "x-all": "1", ...trace });
    expect(first?.params["_meta"]).toMatchObject(trace);
    expect(second?.headers).toMatchObject({ authorization: "Bearer all", "x-all": "1" });
    for (const name of ["x-tenant", "traceparent", "tracestate", "baggage"]) expect(second?.headers[name]).toBeUndefined();
  });

  it("sends each header once, however its name is written", async () => {
    await using at = await peer(era);
    const headers = { Accept: "text/event-stream, application/json", "Content-Type": "text/plain", Authorization: "Bearer all" };
    await using client = await connect(at.url, { era, headers });
    await client.callTool("t", {}, { metadata: { AUTHORIZATION: "Bearer one" } });
    await client.callTool("t");
    const [first, second] = at.seen.filter(({ method }) => method === "tools/call");
    expect(first?.headers).toMatchObject({ accept: headers.Accept, "content-type": "application/json", authorization: "Bearer one" });
    expect(second?.headers).toMatchObject({ authorization: "Bearer all" });
  });

  it("does not let metadata change what belongs to the protocol", async () => {
    await using at = await peer(era);
    await using client = await connect(at.url, { era });
    for (const name of ["mcp-method", "Mcp-Session-Id", "content-type", "accept", "host", "te", "connection", "content-length", ":path"])
      await expect(client.callTool("t", {}, { metadata: { [name]: "x" } })).rejects.toMatchObject({ code: "invalid-params" });
    await expect(client.callTool("t", {}, { metadata: { "x-a": "b\r\nx-evil: 1" } })).rejects.toMatchObject({ code: "invalid-params" });
    expect(at.seen.some(({ method }) => method === "tools/call")).toBe(false);
  });

  it("brings nothing of what a relay's client sent, but the trace", async () => {
    await using at = await peer(era);
    const wire = await wireFor(at.url);
    await using upstream = await wire.dial(at.url, { era });
    await using relay = await serve(upstream, "http://127.0.0.1:0");
    const body = modern(1, "tools/call", { name: "t", arguments: {} });
    await (await postModern(relay.address, body, { authorization: "Bearer s3cret", "x-tenant": "a", ...trace })).text();
    const sent = at.seen.find(({ method }) => method === "tools/call");
    expect(sent?.headers).toMatchObject(trace);
    expect(JSON.stringify(sent)).not.toMatch(/s3cret|x-tenant/);
  });
});

describe("metadata that a call cannot bring", () => {
  const server = createServer({ name: "x", version: "1" }).tool("echo", {}, () => "e");
  it.each(["memory:shared-metadata", "ws://127.0.0.1:0", "sse+http://127.0.0.1:0", "grpc://127.0.0.1:0", "tunnel+grpc://127.0.0.1:0"])(
    "is refused, with the reason: %s",
    async (address) => {
      await using listener = await serve(server, address);
      await using client = await connect(listener.address);
      const refused = client.callTool("echo", {}, { metadata: { "x-tenant": "a" } });
      await expect(refused).rejects.toMatchObject({ code: "invalid-params", data: { reason: "shared-stream" } });
      expect((await client.callTool("echo")).content).toMatchObject([{ text: "e" }]);
    },
  );
});

/** A server that tells what a handler sees. */
function shows(): Server & { readonly seen: { metadata: JsonObject; trace: unknown }[] } {
  const seen: { metadata: JsonObject; trace: unknown }[] = [];
  const server = createServer({ name: "x", version: "1" }).tool("show", {}, () => "shown");
  const service = {
    ...server,
    call: (request: Parameters<Server["call"]>[0], context: Parameters<Server["call"]>[1]) => {
      if (request.method === "tools/call") seen.push({ metadata: { ...context.metadata }, trace: context.trace });
      return server.call(request, context);
    },
    notify: (...args: Parameters<Server["notify"]>) => server.notify(...args),
  };
  return Object.assign(service, { seen }) as never;
}
const secrets = { authorization: "Bearer s3cret", "proxy-authorization": "Basic s3cret", cookie: "id=s3cret" };

describe("what a handler sees of the headers", () => {
  it("HTTP: those of its call, without credentials; the trace in them wins over _meta", async () => {
    const server = shows();
    await using listener = await serve(server, "http://127.0.0.1:0");
    const old = { traceparent: other, tracestate: "old=1", baggage: "old=1" };
    const body = modern(1, "tools/call", { name: "show", arguments: {}, _meta: old });
    await (await postModern(listener.address, body, { ...secrets, "x-tenant": "a", traceparent: trace.traceparent })).text();
    const session = await begin(listener.address, { ...secrets, "x-first": "1" });
    for (const tenant of ["b", "c"]) {
      const headers = { ...session, "x-tenant": tenant, ...trace, "content-type": "application/json" };
      const answer = await fetch(listener.address, {
        method: "POST",
        headers: { ...headers, accept: "application/json, text/event-stream" },
        body: JSON.stringify(call(tenant, "show", {}, { _meta: old })),
      });
      await answer.text();
    }
    expect(server.seen.map(({ metadata }) => metadata["x-tenant"])).toEqual(["a", "b", "c"]);
    // The state belongs to the parent that it came with; the baggage stands for itself.
    expect(server.seen.map((each) => each.trace)).toEqual([{ traceparent: trace.traceparent, baggage: "old=1" }, trace, trace]);
    expect(JSON.stringify(server.seen)).not.toContain("s3cret");
  });

  it("SSE and WebSocket: those of the stream, without credentials", async () => {
    const server = shows();
    const initialize = {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "0" } },
    };
    const messages = [initialize, { jsonrpc: "2.0", method: "notifications/initialized" }, call(1, "show")].map((each) =>
      JSON.stringify(each),
    );
    await using sse = await serve(server, "sse+http://127.0.0.1:0");
    const url = sse.address.replace(/^sse\+/, "");
    const reader = ((await fetch(url, { headers: { ...secrets, "x-tenant": "a" } })).body as ReadableStream<Uint8Array>).getReader();
    const path = /data: (\S+)/.exec(Buffer.from((await reader.read()).value as Uint8Array).toString())?.[1] as string;
    for (const body of messages)
      await fetch(new URL(path, url), { method: "POST", headers: { "content-type": "application/json", ...secrets }, body });
    await using ws = await serve(server, "ws://127.0.0.1:0");
    const socket = new WebSocket(ws.address, ["mcp"], { headers: { ...secrets, "x-tenant": "b" } });
    await new Promise((resolve) => socket.once("open", resolve));
    for (const message of messages) socket.send(message);
    while (server.seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(server.seen.map(({ metadata }) => metadata["x-tenant"])).toEqual(["a", "b"]);
    expect(JSON.stringify(server.seen)).not.toContain("s3cret");
    socket.terminate();
    await reader.cancel();
  });

  it("gRPC: those of the RPC, without credentials; the trace in them wins over _meta", async () => {
    const server = shows();
    await using listener = await serve(server, "grpc://127.0.0.1:0");
    const client = new grpc.Client(listener.address.replace("grpc://", ""), grpc.credentials.createInsecure());
    const metadata = new grpc.Metadata();
    for (const [name, value] of Object.entries({ ...secrets, ...trace, "x-tenant": "a" })) metadata.add(name, value);
    const pass = (bytes: Buffer): Buffer => bytes;
    const request = Buffer.from(
      encodeMessage("CallToolRequest", { name: "show", _meta: { traceparent: other, baggage: "old=1" } }, { twin: true }),
    );
    const error = await new Promise((resolve) =>
      client.makeUnaryRequest("/mcp.v1.McpService/CallTool", pass, pass, request, metadata, resolve),
    );
    expect(error).toBeNull();
    expect(server.seen).toMatchObject([{ metadata: { "x-tenant": "a" }, trace }]);
    expect(JSON.stringify(server.seen)).not.toContain("s3cret");
    client.close();
    await using dialed = await connect(listener.address, { calls: "rpc" });
    await dialed.callTool("show", {}, { metadata: { "x-tenant": "b" }, trace });
    expect(server.seen[1]).toMatchObject({ metadata: { "x-tenant": "b", traceparent: trace.traceparent }, trace });
  });
});
