import { randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { type Client, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import * as node from "@connectrpc/connect-node";
import * as browser from "@connectrpc/connect-web";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createServer, type Listener, type Server, serve } from "../../src/api/index.js";
import { Health, HealthCheckResponse_ServingStatus } from "../../src/codec/gen/grpc/health/v1/health_pb.js";
import { McpService } from "../../src/codec/gen/mcp/v1/mcp_pb.js";
import { MCP } from "../../src/codec/gen/mcp_tunnel_pb.js";
import { authority } from "../fixtures/certificates.js";
import { bufCurl, sample } from "./peers.js";

const MESSAGE_BYTES = 1024 * 1024;

let server: ReturnType<typeof sample>;
let listener: Listener;
let baseUrl: string;
beforeAll(async () => {
  server = sample();
  listener = await serve(server, "grpc://127.0.0.1:0", { limits: { messageBytes: MESSAGE_BYTES } });
  baseUrl = listener.address.replace("grpc:", "http:");
});
afterAll(() => listener.close());
afterEach(() => {
  server.calls.length = 0;
});

/** Sessions are kept open between calls unless told otherwise. */
const idle = { idleConnectionTimeoutMs: 100 };
const transports: Record<string, (url: string) => Transport> = {
  "Connect JSON, HTTP/1.1": (url) => node.createConnectTransport({ baseUrl: url, httpVersion: "1.1", useBinaryFormat: false }),
  "Connect binary, HTTP/1.1": (url) => node.createConnectTransport({ baseUrl: url, httpVersion: "1.1", useBinaryFormat: true }),
  "Connect JSON, HTTP/2": (url) => node.createConnectTransport({ baseUrl: url, httpVersion: "2", useBinaryFormat: false, ...idle }),
  "Connect binary, HTTP/2": (url) => node.createConnectTransport({ baseUrl: url, httpVersion: "2", useBinaryFormat: true, ...idle }),
  "gRPC-Web, HTTP/1.1": (url) => node.createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" }),
  "gRPC-Web, HTTP/2": (url) => node.createGrpcWebTransport({ baseUrl: url, httpVersion: "2", ...idle }),
  "gRPC of Connect, HTTP/2": (url) => node.createGrpcTransport({ baseUrl: url, ...idle }),
  "Connect JSON by fetch": (url) => browser.createConnectTransport({ baseUrl: url, useBinaryFormat: false }),
  "Connect binary by fetch": (url) => browser.createConnectTransport({ baseUrl: url, useBinaryFormat: true }),
  "gRPC-Web by fetch": (url) => browser.createGrpcWebTransport({ baseUrl: url }),
};

function failure(promise: Promise<unknown>): Promise<ConnectError> {
  return promise.then(
    () => {
      throw new Error("it did not fail");
    },
    (error) => ConnectError.from(error),
  );
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const messages: T[] = [];
  for await (const message of stream) messages.push(message);
  return messages;
}

describe.each(Object.entries(transports))("%s", (_name, transport) => {
  const client = (): Client<typeof McpService> => createClient(McpService, transport(baseUrl));

  it("pings and calls a tool", async () => {
    expect(await client().ping({})).toMatchObject({ $typeName: "mcp.v1.PingResponse" });
    const { content } = await client().callTool({ name: "echo", arguments: { text: "wörld 🌍" } });
    expect(content[0]?.content).toMatchObject({ case: "text", value: { text: "wörld 🌍" } });
  });

  it("streams a list and a call with progress", async () => {
    const tools = await all(client().listTools({}));
    expect(tools.map(({ tool }) => tool?.name)).toEqual(["echo", "count", "wait"]);
    expect(tools[0]?.tool?.inputSchema).toEqual({ type: "object" });
    const updates = await all(client().callToolWithProgress({ name: "count", arguments: { n: 3 } }));
    expect(updates.map(({ update }) => update.case)).toEqual(["progress", "progress", "progress", "result"]);
  });

  it("tells an error with its JSON-RPC code and data", async () => {
    const error = await failure(client().callTool({ name: "none" }));
    expect([error.code, error.rawMessage]).toEqual([Code.InvalidArgument, "unknown tool: none"]);
    expect(error.metadata.get("mcp-error-code")).toBe("-32602");
    expect(JSON.parse(Buffer.from(error.metadata.get("mcp-error-data-bin") ?? "", "base64").toString())).toEqual({ name: "none" });
    expect((await failure(all(client().readResourceChunked({ uri: "test://none" })))).code).toBe(Code.NotFound);
  });

  it("ends a call at its deadline, and the tool hears of it", async () => {
    expect((await failure(client().callTool({ name: "wait" }, { timeoutMs: 300 }))).code).toBe(Code.DeadlineExceeded);
    await vi.waitFor(() => expect(server.calls).toEqual(["wait", "left"]), { timeout: 10_000 });
  });

  it("cancels, and the tool hears of it", async () => {
    const controller = new AbortController();
    const calls = [
      failure(client().callTool({ name: "wait" }, { signal: controller.signal })),
      failure(all(client().callToolWithProgress({ name: "wait" }, { signal: controller.signal }))),
    ];
    await vi.waitFor(() => expect(server.calls).toEqual(["wait", "wait"]), { timeout: 10_000 });
    controller.abort();
    for (const call of calls) expect((await call).code).toBe(Code.Canceled);
    await vi.waitFor(() => expect(server.calls.filter((what) => what === "left").length).toBe(2), { timeout: 10_000 });
  });

  it("refuses a message that is too large, and goes on", async () => {
    const text = randomBytes(MESSAGE_BYTES).toString("hex");
    const error = await failure(client().callTool({ name: "echo", arguments: { text } }));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(server.calls).toEqual([]);
    await client().ping({});
  });

  it("keeps a session by its metadata", async () => {
    let session = "";
    await client().initialize(
      { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
      { onHeader: (headers) => void (session = headers.get("mcp-session-id") ?? "") },
    );
    expect(session.length).toBeGreaterThanOrEqual(20);
    await client().callTool({ name: "echo", arguments: { text: "x" } }, { headers: { "mcp-session-id": session } });
    const error = await failure(client().callTool({ name: "echo" }, { headers: { "mcp-session-id": "A".repeat(22) } }));
    expect(error.code).toBe(Code.NotFound);
  });
});

describe.each(["Connect JSON, HTTP/2", "Connect binary, HTTP/2", "gRPC of Connect, HTTP/2"])("%s", (name) => {
  const transport = transports[name] as (url: string) => Transport;
  const client = (): Client<typeof McpService> => createClient(McpService, transport(baseUrl));

  it("streams both ways: Session, tool calls and the tunnel", async () => {
    async function* tools(): AsyncGenerator<{ requestId: string; name: string; arguments: { text: string } }> {
      for (const text of ["a", "b"]) yield { requestId: text, name: "echo", arguments: { text } };
    }
    expect((await all(client().streamToolCalls(tools()))).map(({ requestId }) => requestId).sort()).toEqual(["a", "b"]);
    async function* pings(): AsyncGenerator<{ messageId: string; payload: { case: "ping"; value: object } }> {
      yield { messageId: "1", payload: { case: "ping", value: {} } };
    }
    expect((await all(client().session(pings()))).map(({ inReplyTo, payload }) => [inReplyTo, payload.case])).toEqual([["1", "ping"]]);
    const asked = { jsonrpc: "2.0", id: 7, method: "ping" };
    async function* messages(): AsyncGenerator<{ message: Uint8Array }> {
      yield { message: Buffer.from(JSON.stringify(asked)) };
    }
    const [answer] = await all(createClient(MCP, transport(baseUrl)).call(messages()));
    expect(JSON.parse(Buffer.from(answer?.message ?? []).toString())).toEqual({ jsonrpc: "2.0", id: 7, result: {} });
  });
});

describe("by hand", () => {
  const post = (path: string, body: BodyInit, type = "application/json", headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${baseUrl}${path}`, { method: "POST", headers: { "content-type": type, ...headers }, body });

  it("answers plain JSON", async () => {
    expect(await (await post("/mcp.v1.McpService/Ping", "{}")).json()).toEqual({});
    const body = JSON.stringify({ name: "echo", arguments: { text: "hi", deep: { list: [1, null, false] } } });
    expect(await (await post("/mcp.v1.McpService/CallTool", body)).json()).toEqual({ content: [{ text: { text: "hi" } }] });
    const failed = await post("/mcp.v1.McpService/CallTool", '{"name":"none"}');
    expect([failed.status, await failed.json()]).toEqual([400, { code: "invalid_argument", message: "unknown tool: none" }]);
    expect((await post("/mcp.v1.McpService/Ping", "{")).status).toBe(400);
  });

  it("says what is wrong with a request that is no call", async () => {
    const said = async (answer: Response): Promise<[number, string]> => [answer.status, await answer.text()];
    expect(await said(await post("/mcp.v1.McpService/Nope", "{}"))).toEqual([404, expect.stringContaining("no /mcp.v1.McpService/Nope")]);
    expect(await said(await post("/", "{}"))).toEqual([404, expect.any(String)]);
    expect(await said(await post("/mcp.v1.McpService/Ping", "x=1", "application/x-www-form-urlencoded"))).toEqual([
      415,
      expect.stringContaining("application/json"),
    ]);
    expect(await said(await post("/mcp.v1.McpService/ListTools", "{}"))).toEqual([
      415,
      expect.stringContaining("application/connect+json"),
    ]);
    expect(await said(await fetch(`${baseUrl}/mcp.v1.McpService/Ping?connect=v1&encoding=json&message={}`))).toEqual([
      405,
      expect.stringContaining("POST"),
    ]);
    expect(await said(await post("/mcp.v1.McpService/Session", "", "application/connect+json"))).toEqual([
      505,
      expect.stringContaining("HTTP/2"),
    ]);
    expect(await said(await post("/mcp.v1.McpService/Ping", "", "application/grpc"))).toEqual([505, expect.stringContaining("HTTP/2")]);
    expect((await post("/mcp.v1.McpService/Ping", "{}", "application/json", { "connect-timeout-ms": "soon" })).status).toBe(400);
  });

  it("takes a deadline beyond what a timer holds for none", async () => {
    expect((await post("/mcp.v1.McpService/Ping", "{}", "application/json", { "connect-timeout-ms": "9999999999" })).status).toBe(200);
    const web = await post("/mcp.v1.McpService/Ping", new Uint8Array(5), "application/grpc-web+proto", { "grpc-timeout": "99999999H" });
    expect(await web.text()).toContain("grpc-status: 0");
  });

  it("reads compressed requests, and not beyond the limit", async () => {
    const zipped = (text: string): Promise<Response> =>
      post("/mcp.v1.McpService/CallTool", gzipSync(JSON.stringify({ name: "echo", arguments: { text } })), "application/json", {
        "content-encoding": "gzip",
      });
    expect(await (await zipped("small")).json()).toEqual({ content: [{ text: { text: "small" } }] });
    expect((await (await zipped("0".repeat(8 * MESSAGE_BYTES))).json()).code).toBe("resource_exhausted");
    const garbage = await post("/mcp.v1.McpService/Ping", "no gzip", "application/json", { "content-encoding": "gzip" });
    expect(garbage.status).toBeGreaterThanOrEqual(400);
  });

  it("survives JSON that is nested deeper than anybody means", async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    const answer = await post("/mcp.v1.McpService/CallTool", `{"name":"echo","arguments":${deep}}`);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(server.calls).toEqual([]);
    expect((await post("/mcp.v1.McpService/Ping", "{}")).status).toBe(200);
  });

  it("carries what is nested as deep as a message may be, both ways", async () => {
    const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const mirror = createServer({ name: "mirror", version: "1" }).tool("mirror", {}, (args) => ({ content: [], structuredContent: args }));
    await using at = await serve(mirror, "grpc://127.0.0.1:0");
    const call = (levels: number): Promise<Response> =>
      fetch(`${at.address.replace("grpc:", "http:")}/mcp.v1.McpService/CallTool`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: `{"name":"mirror","arguments":${nested(levels)}}`,
      });
    expect(JSON.stringify((await (await call(200)).json()).structuredContent)).toBe(nested(200));
    expect((await (await call(300)).json()).code).toBe("invalid_argument");
  });

  it("speaks gRPC-Web's text form, in pieces that are padded", async () => {
    const frame = (payload: string): string =>
      Buffer.concat([Buffer.from([0, 0, 0, 0, payload.length]), Buffer.from(payload)]).toString("base64");
    const whole = Buffer.from(frame("\n\x04echo"), "base64");
    const pieces = whole.subarray(0, 4).toString("base64") + whole.subarray(4).toString("base64");
    const answer = await post("/mcp.v1.McpService/CallTool", pieces, "application/grpc-web-text");
    expect(answer.headers.get("content-type")).toBe("application/grpc-web-text+proto");
    const octets = Buffer.concat([...(await answer.text()).matchAll(/[^=]+=*/g)].map(([piece]) => Buffer.from(piece, "base64")));
    expect(octets.toString("latin1")).toContain("undefined");
    expect(octets.toString("latin1")).toContain("grpc-status: 0");
  });

  it("outlives a client that goes in the middle of its body", async () => {
    const sent = httpRequest(`${baseUrl}/mcp.v1.McpService/CallTool`, {
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json", "content-length": "100" },
    });
    sent.on("error", () => {});
    sent.write('{"name":');
    await new Promise((resolve) => sent.once("socket", (socket) => socket.once("connect", resolve)));
    sent.destroy();
    expect((await post("/mcp.v1.McpService/Ping", "{}")).status).toBe(200);
    expect(server.calls).toEqual([]);
  });
});

it("answers buf curl over Connect and gRPC-Web, by reflection", async () => {
  for (const protocol of ["connect", "grpcweb"]) {
    const args = ["--protocol", protocol, "--http2-prior-knowledge", "-d", '{"name":"echo","arguments":{"text":"buf"}}'];
    expect(JSON.parse(await bufCurl(...args, `${baseUrl}/mcp.v1.McpService/CallTool`))).toMatchObject({
      content: [{ text: { text: "buf" } }],
    });
  }
});

/** A server whose list is made as it is read, and is larger than any buffer. */
function long(bytes: number): { server: Server; made: () => number; open: () => void } {
  let made = 0;
  let open: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const description = "x".repeat(bytes);
  const lists = createServer({ name: "long", version: "1" }).tools({
    async *list() {
      while (made < 20_000) {
        if (made === 3) await gate;
        yield { name: `tool-${made++}`, description, inputSchema: { type: "object" } };
      }
    },
    call: () => "",
  });
  return { server: lists, made: () => made, open };
}

describe.each(["Connect JSON, HTTP/1.1", "Connect binary, HTTP/2", "gRPC-Web, HTTP/2", "Connect JSON by fetch"])(
  "a stream by %s",
  (name) => {
    const transport = transports[name] as (url: string) => Transport;

    it("arrives as it is made, and a slow reader holds up its producer alone", async () => {
      const source = long(4096);
      await using at = await serve(source.server, "grpc://127.0.0.1:0");
      const client = createClient(McpService, transport(at.address.replace("grpc:", "http:")));
      const controller = new AbortController();
      const tools = client.listTools({}, { signal: controller.signal })[Symbol.asyncIterator]();
      const next = async (): Promise<string | undefined> => (await tools.next()).value?.tool?.name;
      expect([await next(), await next(), await next()]).toEqual(["tool-0", "tool-1", "tool-2"]);
      expect(source.made()).toBe(3);
      source.open();
      expect(await next()).toBe("tool-3");
      // Nobody reads: what is made stops at what the connection holds.
      let before = -1;
      await vi.waitFor(
        () => {
          const now = source.made();
          const stopped = now === before;
          before = now;
          expect(stopped).toBe(true);
        },
        { timeout: 25_000, interval: 500 },
      );
      expect(before * 4096).toBeLessThan(48 * 1024 * 1024);
      await client.ping({});
      // Whoever reads on gets the next one, not the newest.
      expect(await next()).toBe("tool-4");
      controller.abort();
      await tools.next().catch(() => {});
    });
  },
);

it("is served over TLS, and knows a client by its certificate", async () => {
  const root = authority();
  const { cert, key } = root.issue("agent.example");
  const who = createServer({ name: "who", version: "1" }).tool("who", {}, (_args, { client }) => String(client.identity.principal));
  const tls = { ...root.issue("localhost", "127.0.0.1"), ca: root.cert, requestClientCert: true };
  await using at = await serve(who, "grpcs://127.0.0.1:0", { tls });
  const common = { baseUrl: at.address.replace("grpcs:", "https:"), nodeOptions: { ca: root.cert, cert, key } };
  for (const transport of [
    node.createConnectTransport({ ...common, httpVersion: "1.1" }),
    node.createConnectTransport({ ...common, httpVersion: "2", ...idle }),
    node.createGrpcWebTransport({ ...common, httpVersion: "1.1" }),
    node.createGrpcTransport({ ...common, ...idle }),
  ]) {
    const { content } = await createClient(McpService, transport).callTool({ name: "who" });
    expect(content[0]?.content.value).toMatchObject({ text: "agent.example" });
  }
});

describe("the end of a listener", () => {
  it("lets calls finish, refuses new ones, and says that it does not serve", async () => {
    const other = sample();
    const at = await serve(other, "grpc://127.0.0.1:0", { drainMs: 10_000 });
    // No new connections are taken: all goes over one that is there.
    const transport = node.createConnectTransport({ baseUrl: at.address.replace("grpc:", "http:"), httpVersion: "2", ...idle });
    const client = createClient(McpService, transport);
    const controller = new AbortController();
    const waiting = failure(client.callTool({ name: "wait" }, { signal: controller.signal }));
    await vi.waitFor(() => expect(other.calls).toEqual(["wait"]), { timeout: 10_000 });
    const closed = at.close();
    expect(await createClient(Health, transport).check({})).toMatchObject({ status: HealthCheckResponse_ServingStatus.NOT_SERVING });
    expect((await failure(client.ping({}))).code).toBe(Code.Unavailable);
    expect(other.calls).toEqual(["wait"]);
    controller.abort();
    expect((await waiting).code).toBe(Code.Canceled);
    await closed;
  });

  it("ends calls that take longer as unavailable", async () => {
    const other = sample();
    const at = await serve(other, "grpc://127.0.0.1:0", { drainMs: 50 });
    const client = createClient(McpService, browser.createConnectTransport({ baseUrl: at.address.replace("grpc:", "http:") }));
    const calls = [failure(client.callTool({ name: "wait" })), failure(all(client.callToolWithProgress({ name: "wait" })))];
    await vi.waitFor(() => expect(other.calls).toEqual(["wait", "wait"]), { timeout: 10_000 });
    await at.close();
    for (const call of calls) expect((await call).code).toBe(Code.Unavailable);
    await vi.waitFor(() => expect(other.calls.filter((what) => what === "left").length).toBe(2), { timeout: 10_000 });
  });
});
