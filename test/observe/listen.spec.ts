import { create } from "@bufbuild/protobuf";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { connect, createServer, elicit, Fault, progress, type Server, serve } from "../../src/api/index.js";
import { CallToolRequestSchema, CallToolResponseSchema } from "../../src/codec/gen/mcp/v1/mcp_pb.js";
import { JsonRpcMessageSchema } from "../../src/codec/gen/mcp_tunnel_pb.js";
import { initialized, modern, notification, raw, request, served, servedLines } from "../era/raw.js";
import { Peer } from "../grpc/peers.js";
import { begin, modern as modernBody, post, postModern } from "../http/requests.js";
import { gate } from "../support/peer.js";
import { recorder } from "./recorder.js";

function sample(): Server {
  return createServer({ name: "sample", version: "1" })
    .tool("echo", {}, ({ text }) => String(text))
    .tool("count", {}, async function* () {
      yield progress(1, 2);
      yield progress(2, 2);
      return "counted";
    })
    .tool("sad", {}, () => ({ isError: true, content: [] }))
    .tool("broken", {}, () => {
      throw new Fault("denied", "not you");
    })
    .tool("ask", {}, async function* () {
      yield* elicit({ message: "who?", requestedSchema: { type: "object", properties: {} } });
      return "asked";
    })
    .tool("wait", {}, (_args, { cancel }) => new Promise((resolve) => cancel.on(() => resolve("left"))));
}

/** The same transport, which keeps what it sends and receives. */
function recorded(transport: Transport): { readonly transport: Transport; readonly sent: string[]; readonly received: string[] } {
  const [sent, received]: [string[], string[]] = [[], []];
  const send = transport.send.bind(transport);
  transport.send = (message: JSONRPCMessage, options) => {
    sent.push(JSON.stringify(message));
    return send(message, options);
  };
  const start = transport.start.bind(transport);
  transport.start = () => {
    const take = transport.onmessage;
    transport.onmessage = (message, extra) => {
      received.push(JSON.stringify(message));
      take?.(message, extra);
    };
    return start();
  };
  return { transport, sent, received };
}

const wires: readonly (readonly [name: string, address: string, open: (url: URL) => Transport])[] = [
  ["http", "http://127.0.0.1:0", (url) => new StreamableHTTPClientTransport(url) as Transport],
  ["sse", "sse+http://127.0.0.1:0", (url) => new SSEClientTransport(new URL(url.href.replace("sse+", "")))],
  ["websocket", "ws://127.0.0.1:0", (url) => new WebSocketClientTransport(url)],
];

// The official client takes the runtime's own, which Node 20 does not have.
beforeAll(() => vi.stubGlobal("WebSocket", WebSocket));
afterAll(() => vi.unstubAllGlobals());

describe.each(wires)("the official client over %s", (wire, address, open) => {
  it("is watched: calls, frames and its session", async () => {
    const observe = recorder();
    const listener = await serve(sample(), address, { observe });
    const { transport, sent, received } = recorded(open(new URL(listener.address)));
    const client = new Client({ name: "sdk", version: "0" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: {} }));
    await client.connect(transport);
    await client.callTool({ name: "count" }, undefined, { onprogress: () => {} });
    await client.callTool({ name: "ask" });
    await client.callTool({ name: "sad" });
    await expect(client.callTool({ name: "broken" })).rejects.toThrow("not you");

    await vi.waitFor(() => expect(observe.calls).toHaveLength(13));
    expect(observe.calls).toEqual([
      "start initialize",
      "end initialize ok",
      "start tools/call count",
      "progress tools/call",
      "progress tools/call",
      "end tools/call ok",
      "start tools/call ask",
      "question tools/call elicitation/create",
      "end tools/call ok",
      "start tools/call sad",
      "end tools/call tool_error",
      "start tools/call broken",
      "end tools/call denied",
    ]);
    const { call, session, refusal } = observe.told;
    // What a tool fails with was not refused.
    expect(refusal).toEqual([]);
    const [identity] = call.map((event) => event.call.identity);
    expect(identity).toEqual(expect.any(String));
    for (const event of call) expect(event.call).toMatchObject({ side: "listen", wire, era: "legacy", identity });
    const [counted] = call.filter((event) => event.kind === "end" && event.call.name === "count");
    expect(counted).toMatchObject({ bytes: expect.any(Number), milliseconds: expect.any(Number) });
    // Every event of one call has the same object.
    expect(new Set(call.map((event) => event.call)).size).toBe(5);

    // What the other stack sent and received; only the envelope's members may stand in another order.
    const parsed = (texts: readonly string[]): unknown[] => texts.map((text) => JSON.parse(text) as unknown);
    expect(parsed(observe.texts("received"))).toEqual(parsed(sent));
    expect(parsed(observe.texts("sent"))).toEqual(parsed(received));
    expect(session).toEqual([
      { side: "listen", wire, identity, kind: "open", protocolVersion: "2025-11-25", client: { name: "sdk", version: "0" } },
    ]);
    await client.close();
    await listener.close();
    expect(session.map(({ kind }) => kind)).toEqual(["open", "end"]);
  });
});

describe("a modern client", () => {
  it("over HTTP is watched request by request, also where a call requires input", async () => {
    const observe = recorder();
    await using listener = await serve(sample(), "http://127.0.0.1:0", { observe });
    const capable = { _meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } } };
    const body = modernBody(1, "tools/call", { name: "ask", ...capable });
    const answer = await (await postModern(listener.address, body)).text();
    expect(observe.calls).toEqual(["start tools/call ask", "question tools/call elicitation/create", "end tools/call input_required"]);
    expect(observe.told.call[0]?.call).toMatchObject({ wire: "http", era: "modern", name: "ask" });
    expect(observe.texts("received")).toEqual([JSON.stringify(body)]);
    expect(observe.texts("sent")).toEqual([answer.replace(/^data: |\n/g, "")]);
    expect(observe.told.session).toEqual([]);
  });

  it("that cancels, ends the call as cancelled", async () => {
    const observe = recorder();
    const client = raw(served(sample(), { observe, wire: "mine" }).link);
    await client.send(modern(1, "tools/call", { name: "wait" }));
    await vi.waitFor(() => expect(observe.calls).toHaveLength(1));
    await client.send(notification("notifications/cancelled", { requestId: 1 }));
    await vi.waitFor(() => expect(observe.calls).toEqual(["start tools/call wait", "end tools/call cancelled"]));
    expect(observe.told.call[0]?.call.wire).toBe("mine");
    await client.link.close();
  });
});

describe("gRPC", () => {
  it("is watched where grpc-js calls", async () => {
    const observe = recorder();
    await using listener = await serve(sample(), "grpc://127.0.0.1:0", { observe });
    using client = new Peer(listener.address);
    await client.unary("/mcp.v1.McpService/CallTool", [CallToolRequestSchema, CallToolResponseSchema], { name: "sad" });
    expect(observe.calls).toEqual(["start tools/call sad", "end tools/call tool_error"]);
    expect(observe.told.frame).toMatchObject([
      { wire: "grpc", direction: "received", message: { jsonrpc: "2.0", method: "tools/call", params: { name: "sad" } } },
      { wire: "grpc", direction: "sent", message: { jsonrpc: "2.0", result: { content: [], isError: true } } },
    ]);
  });

  it("shows the messages of the tunnel as they are", async () => {
    const observe = recorder();
    await using listener = await serve(sample(), "tunnel+grpc://127.0.0.1:0", { observe });
    using client = new Peer(listener.address);
    const stream = client.duplex("/MCP/Call", [JsonRpcMessageSchema, JsonRpcMessageSchema]);
    const body = JSON.stringify(modernBody("a", "tools/call", { name: "echo", arguments: { text: "hi" } }));
    const answered = new Promise<string>((resolve) =>
      stream.once("data", ({ message }: { message: Uint8Array }) => resolve(Buffer.from(message).toString())),
    );
    stream.write(create(JsonRpcMessageSchema, { message: Buffer.from(body) }));
    const answer = await answered;
    stream.end();
    expect(observe.texts("received")).toEqual([body]);
    expect(observe.texts("sent")).toEqual([answer]);
    expect(observe.told.frame[0]?.wire).toBe("tunnel");
  });
});

describe("what is turned away", () => {
  it("is told with the rule: a limit, an order, an Origin, a credential, garbage", async () => {
    const observe = recorder();
    const auth = { verify: (token: string) => (token === "good" ? { id: "me" } : undefined) };
    await using listener = await serve(sample(), "http://127.0.0.1:0", { observe, auth, maxSessions: 1 });
    const url = listener.address;
    const good = { authorization: "Bearer good" };
    await post(url, "{}", { ...good, origin: "http://evil.example" });
    await post(url, "{}", { authorization: "Bearer bad" });
    await post(url, "{not json", good);
    await post(url, { jsonrpc: "2.0", id: 1, method: "tools/list" }, good);
    await begin(url, good);
    await post(url, { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } }, good);
    expect(observe.told.refusal.map(({ kind, rule, wire }) => `${wire} ${kind} ${rule}`)).toEqual([
      "http refused denied",
      "http refused unauthenticated",
      "http dropped parse",
      "http refused invalid-request",
      "http refused maxSessions",
    ]);
    expect(JSON.stringify(observe.told)).not.toMatch(/Bearer|good/);
  });

  it("over HTTP and gRPC alike: an Origin, a user whom a proxy names twice, a credential", async () => {
    const observe = recorder();
    const auth = { verify: () => undefined };
    const trustedProxy = { addresses: ["127.0.0.0/8"], userHeader: "x-user" };
    const turnedAway = [{ origin: "http://evil.example" }, { "x-user": "ada,eve" }, { authorization: "Bearer bad" }];
    for (const scheme of ["http", "grpc"]) {
      await using listener = await serve(sample(), `${scheme}://127.0.0.1:0`, { observe, auth, trustedProxy });
      for (const headers of turnedAway) await expect(connect(listener.address, { headers })).rejects.toBeInstanceOf(Fault);
    }
    const rules = new Set(observe.told.refusal.map(({ kind, rule, wire }) => `${wire} ${kind} ${rule}`));
    expect([...rules]).toEqual([
      "http refused denied",
      "http refused unauthenticated",
      "grpc refused denied",
      "grpc refused unauthenticated",
    ]);
    const named = observe.told.refusal.filter(({ fault }) => fault.message.includes("x-user")).map(({ wire }) => wire);
    expect([...new Set(named)]).toEqual(["http", "grpc"]);
  });

  it("on a link: too many calls, a request before the session, a response to nothing, garbage", async () => {
    const observe = recorder();
    const faults: string[] = [];
    const { client, write } = servedLines(sample(), {
      observe,
      limits: { inFlight: 1 },
      eras: ["legacy"],
      onFault: ({ code }) => faults.push(code),
    });
    await client.send(request(1, "tools/list"));
    await client.answer(1);
    await initialized(client);
    await client.send(request(2, "tools/call", { name: "wait" }));
    await client.send(request(3, "tools/call", { name: "wait" }));
    await client.answer(3);
    write('{"jsonrpc":"2.0","id":99,"result":{}}');
    write("garbage");
    await vi.waitFor(() => expect(observe.told.refusal).toHaveLength(4));
    expect(observe.told.refusal.map(({ kind, rule, method }) => `${kind} ${rule} ${method}`)).toEqual([
      "refused invalid-request tools/list",
      "refused inFlight tools/call",
      "dropped invalid-request undefined",
      "dropped parse undefined",
    ]);
    // Who listens to faults hears the same ones.
    expect(faults).toEqual(["invalid-request", "parse"]);
    await client.link.close();
  });

  it("does not end the call whose id a second request took", async () => {
    const observe = recorder();
    const go = gate();
    const server = createServer({ name: "s", version: "1" }).tool("late", {}, async function* () {
      await go;
      yield progress(1);
      return "done";
    });
    const client = raw(served(server, { observe }).link);
    const call = modern(1, "tools/call", { name: "late" }, { progressToken: "p" });
    await client.send(call);
    await client.send(call);
    await vi.waitFor(() => expect(observe.calls).toHaveLength(3));
    go.open();
    await vi.waitFor(() => expect(observe.calls).toHaveLength(5));
    expect(observe.calls).toEqual([
      "start tools/call late",
      "start tools/call late",
      "end tools/call invalid-request",
      "progress tools/call",
      "end tools/call ok",
    ]);
    const [first, second, refused, reported, ended] = observe.told.call.map((event) => event.call);
    expect(refused).toBe(second);
    expect(reported).toBe(first);
    expect(ended).toBe(first);
    await client.link.close();
  });
});
