import { Client, credentials, Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { createServer } from "../../src/api/index.js";
import type { Listener } from "../../src/core/index.js";
import { grpc } from "../../src/wires/grpc/index.js";

/** A message of any project's tunnel: JSON in field 1, and whatever else. */
const wrap = (text: string, ...more: readonly number[]): Buffer => {
  const json = Buffer.from(text);
  return Buffer.from([0x0a, (json.length & 0x7f) | 0x80, json.length >> 7, ...json, ...more]);
};
const unwrap = (message: Buffer): { readonly id?: number; readonly result?: unknown } => {
  expect(message[0]).toBe(0x0a);
  const at = (message[1] as number) < 0x80 ? 2 : 3;
  return JSON.parse(message.subarray(at).toString());
};

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function listening(tunnelPaths?: readonly string[]): Promise<Listener> {
  const server = createServer({ name: "paths", version: "1" });
  server.tool("echo", {}, () => "hello");
  const listener = await grpc.listen(server, "grpc://127.0.0.1:0", { tunnelPaths } as object);
  ends.push(() => listener.close());
  return listener;
}

const request = (id: number, method: string, params: object): string => JSON.stringify({ jsonrpc: "2.0", id, method, params });
const initialize = request(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "foreign", version: "0" },
});

/** What a client of grpc-js, which knows nothing but the path, gets for its messages; or the code of the status it ends with. */
function exchanged(address: string, path: string, messages: readonly Buffer[], answers: number): Promise<unknown> {
  const client = new Client(address.replace("grpc://", ""), credentials.createInsecure());
  ends.push(() => client.close());
  const call = client.makeBidiStreamRequest(path, (each: Buffer) => each, unwrap);
  const got: unknown[] = [];
  return new Promise((resolve) => {
    call.on("error", ({ code }: { readonly code?: number }) => resolve(code));
    call.on("data", (message) => {
      if (got.push(message) < answers) return;
      call.end();
      resolve(got);
    });
    for (const message of messages) call.write(message);
  });
}

const answered = [
  { id: 1, result: { protocolVersion: "2025-11-25", serverInfo: { name: "paths" } } },
  { id: 2, result: { content: [{ type: "text", text: "hello" }] } },
];
const conversation = (...more: readonly number[]): Buffer[] => [
  wrap(initialize, ...more),
  wrap(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }), ...more),
  wrap(request(2, "tools/call", { name: "echo", arguments: {} }), ...more),
];

describe("the tunnel", () => {
  it.each(["/MCP/Call", "/McpTunnel/Connect"])("answers grpc-js under %s", async (path) => {
    const { address } = await listening();
    expect(await exchanged(address, path, conversation(), 2)).toMatchObject(answered);
  });

  it("answers under paths that it is given, and passes over fields that others have", async () => {
    const { address } = await listening(["/acme.v1.Tunnel/Stream"]);
    // A string 2 and an integer 3.
    expect(await exchanged(address, "/acme.v1.Tunnel/Stream", conversation(0x12, 1, 0x78, 0x18, 5), 2)).toMatchObject(answered);
    expect(await exchanged(address, "/acme.v1.Tunnel/Other", conversation(), 2)).toBe(12);
    const { address: other } = await listening();
    expect(await exchanged(other, "/acme.v1.Tunnel/Stream", conversation(), 2)).toBe(12);
  });

  it("refuses a message without the field", async () => {
    const { address } = await listening();
    expect(await exchanged(address, "/McpTunnel/Connect", [Buffer.from([0x12, 1, 0x78])], 1)).toMatchObject([
      { id: null, error: { code: -32700 } },
    ]);
  });

  it.each(["MCP/Call", "/mcp.v1.McpService/Ping", "/grpc.health.v1.Health/Check", "/a/b/c"])("cannot be put at %s", async (path) => {
    await expect(listening([path])).rejects.toMatchObject({ code: "invalid-params" });
  });

  it("dials the path of another project's server", async () => {
    const server = new Server();
    ends.push(() => server.forceShutdown());
    const each = { requestStream: true, responseStream: true, requestSerialize: String, responseDeserialize: String } as const;
    const seen: string[] = [];
    server.addService(
      {
        Connect: {
          path: "/McpTunnel/Connect",
          ...each,
          requestDeserialize: unwrap,
          responseSerialize: (value: object) => wrap(JSON.stringify(value)),
        },
      } as never,
      {
        Connect(stream: ServerDuplexStream<{ id?: number; method: string }, object>) {
          stream.on("data", ({ id, method }) => {
            seen.push(method);
            if (method === "initialize") {
              const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "theirs", version: "1" } };
              stream.write({ jsonrpc: "2.0", id, result });
            } else if (id !== undefined) stream.write({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } });
          });
        },
      },
    );
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound))),
    );
    const connection = await grpc.dial(`tunnel+grpc://127.0.0.1:${port}`, { tunnelPath: "/McpTunnel/Connect" } as object);
    ends.push(() => connection.close());
    expect(seen).toContain("initialize");
  });
});
