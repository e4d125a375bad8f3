import { once } from "node:events";
import { type AddressInfo, connect as connectSocket } from "node:net";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { afterEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { connect, createServer, type ServeListener, type Server, serve } from "../../src/api/index.js";
import { baseClient, baseServer, framed, initialize, message, type Payload } from "./base-peer.js";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
});
const kept = <T extends AsyncDisposable>(each: T): T => {
  open.push(each);
  return each;
};

function echo(ran: string[] = []): Server {
  const server = createServer({ name: "echo", version: "1.0.0" });
  server.tool("echo", { description: "says it again" }, (args, { request }) => {
    ran.push("echo");
    return { content: [{ type: "text", text: JSON.stringify(args) }], _meta: { cost: String(request.params["_meta"] === undefined) } };
  });
  server.tool("fail", {}, () => {
    throw new Error("no luck");
  });
  server.resource({ uri: "note:1", name: "one", description: "a note" }, () => "hello");
  return server;
}

const serving = async (address: string, ran: string[] = [], options: object = {}): Promise<ServeListener> =>
  kept(await serve(echo(ran), address, options));
const struct = (json: Record<string, unknown>) => ({
  typeUrl: "type.googleapis.com/google.protobuf.Struct",
  value: toBinary(
    StructSchema,
    create(StructSchema, {
      fields: Object.fromEntries(
        Object.entries(json).map(([name, value]) => [name, { kind: { case: "stringValue", value: String(value) } }]),
      ),
    } as never),
  ),
});

describe("a client of the base", () => {
  for (const address of ["proto+tcp://127.0.0.1:0", "any://127.0.0.1:0"]) {
    it(`initializes, lists, calls and reads at ${address}`, async () => {
      const client = await baseClient((await serving(address)).address);
      client.send(1n, "initializeRequest", initialize);
      expect(await client.next()).toMatchObject({
        id: 1n,
        payload: {
          case: "initializeResponse",
          value: {
            protocolVersion: "1.3.0",
            capabilities: { tools: { supportsListChanged: expect.any(Boolean) } },
            metadata: { name: "echo", version: "1.0.0" },
          },
        },
      });
      client.send(2n, "listToolsRequest", {});
      expect(await client.next()).toMatchObject({
        id: 2n,
        payload: { case: "listToolsResponse", value: { tools: [{ name: "echo", description: "says it again" }, { name: "fail" }] } },
      });
      client.send(3n, "callToolRequest", { name: "echo", arguments: struct({ a: "b" }), metadata: { trace_id: "t1" } });
      expect(await client.next()).toMatchObject({
        id: 3n,
        payload: {
          case: "callToolResponse",
          value: {
            result: { case: "success", value: { content: [{ content: { case: "text", value: '{"a":"b"}' } }], isError: false } },
            metadata: { cost: "false" },
          },
        },
      });
      client.send(4n, "callToolRequest", { name: "fail" });
      expect(await client.next()).toMatchObject({
        id: 4n,
        payload: { case: "callToolResponse", value: { result: { case: "error", value: { code: -32603, message: "no luck" } } } },
      });
      client.send(5n, "listResourcesRequest", {});
      expect(await client.next()).toMatchObject({
        id: 5n,
        payload: { value: { resources: [{ uri: "note:1", name: "one", description: "a note" }] } },
      });
      client.send(6n, "readResourceRequest", { uri: "note:1" });
      expect(await client.next()).toMatchObject({
        id: 6n,
        payload: { value: { contents: [{ uri: "note:1", content: { case: "text", value: "hello" } }] } },
      });
      client.send(7n, "callToolRequest", { name: "nobody" });
      expect(await client.next()).toMatchObject({ id: 7n, payload: { case: "errorResponse", value: { code: -32602 } } });
      client.socket.destroy();
    });
  }

  it("is told that its version is not supported, and may try again", async () => {
    const client = await baseClient((await serving("proto+tcp://127.0.0.1:0")).address);
    client.send(1n, "initializeRequest", { ...initialize, protocolVersion: "2.0.0" });
    expect(await client.next()).toMatchObject({
      id: 1n,
      payload: { case: "errorResponse", value: { code: -33002, message: expect.stringContaining("1.x") } },
    });
    client.send(2n, "initializeRequest", { ...initialize, protocolVersion: "1.9.0" });
    expect(await client.next()).toMatchObject({ id: 2n, payload: { case: "initializeResponse" } });
    client.socket.destroy();
  });
});

describe("a stream that goes wrong", () => {
  it("answers an unknown payload and a broken one by their ids, and goes on", async () => {
    const ran: string[] = [];
    const client = await baseClient((await serving("proto+tcp://127.0.0.1:0", ran)).address);
    client.send(1n, "initializeRequest", initialize);
    await client.next();
    // id 2, and a payload of number 90.
    client.socket.write(framed(Uint8Array.of(0x08, 2, 0xd2, 0x05, 0)));
    expect(await client.next()).toMatchObject({ id: 2n, payload: { case: "errorResponse", value: { code: -32601 } } });
    // id 3, and a CallToolRequest whose name is no UTF-8.
    client.socket.write(framed(Uint8Array.of(0x08, 3, 0x32, 3, 0x0a, 1, 0xff)));
    expect(await client.next()).toMatchObject({ id: 3n, payload: { case: "errorResponse", value: { code: -32700 } } });
    // No message at all.
    client.socket.write(framed(Uint8Array.of(0x0b, 0xff, 0xff)));
    expect(await client.next()).toMatchObject({ id: 0n, payload: { case: "errorResponse", value: { code: -32700 } } });
    // An Any that is not an object.
    client.send(4n, "callToolRequest", {
      name: "echo",
      arguments: { typeUrl: "type.googleapis.com/google.protobuf.StringValue", value: Uint8Array.of(0x0a, 0) },
    });
    expect(await client.next()).toMatchObject({ id: 4n, payload: { case: "errorResponse", value: { code: -32600 } } });
    expect(ran).toEqual([]);
    client.send(5n, "callToolRequest", { name: "echo" });
    expect(await client.next()).toMatchObject({ id: 5n, payload: { case: "callToolResponse" } });
    client.socket.destroy();
  });

  it("ends at a length beyond the limit, before its bytes come, and takes what came before", async () => {
    const listener = await serving("proto+tcp://127.0.0.1:0", [], { limits: { messageBytes: 1000 } });
    const client = await baseClient(listener.address);
    client.socket.write(Buffer.concat([framed(message(1n, "initializeRequest", initialize)), Buffer.from([0, 0, 0x03, 0xe9, 0])]));
    expect(await client.next()).toMatchObject({ id: 1n, payload: { case: "initializeResponse" } });
    client.socket.write(Buffer.from([0]));
    expect(await client.next()).toMatchObject({
      id: 0n,
      payload: { case: "errorResponse", value: { message: expect.stringContaining("larger") } },
    });
    expect(await client.next()).toBeUndefined();
  });

  it("row 24: declares 4 GiB, and is refused before any room is made", async () => {
    const before = process.memoryUsage().arrayBuffers;
    const client = await baseClient((await serving("proto+tcp://127.0.0.1:0")).address);
    client.send(1n, "initializeRequest", initialize);
    await client.next();
    client.socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x08]));
    expect(await client.next()).toMatchObject({
      id: 0n,
      payload: { case: "errorResponse", value: { message: expect.stringContaining("larger") } },
    });
    expect(await client.next()).toBeUndefined();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });

  it("runs nothing of a message that is cut off", async () => {
    const ran: string[] = [];
    const client = await baseClient((await serving("proto+tcp://127.0.0.1:0", ran)).address);
    client.send(1n, "initializeRequest", initialize);
    await client.next();
    const call = framed(message(2n, "callToolRequest", { name: "echo" }));
    client.socket.end(call.subarray(0, call.length - 1));
    expect(await client.next()).toMatchObject({ id: 0n, payload: { case: "errorResponse", value: { code: -32700 } } });
    expect(await client.next()).toBeUndefined();
    expect(ran).toEqual([]);
  });

  it("counts what is incomplete, and gives it its time", async () => {
    const listener = await serving("proto+tcp://127.0.0.1:0", [], { limits: { messageMs: 50 } });
    const client = await baseClient(listener.address);
    client.socket.write(Buffer.from([0, 0, 1, 0, 8]));
    expect(await client.next()).toMatchObject({
      payload: { case: "errorResponse", value: { message: "a message did not arrive whole within 50 ms" } },
    });
    expect(await client.next()).toBeUndefined();
  });

  it("gives a message no more time for coming in small pieces", async () => {
    const listener = await serving("proto+tcp://127.0.0.1:0", [], { limits: { messageMs: 200 } });
    const client = await baseClient(listener.address);
    client.socket.write(Buffer.from([0, 0, 1, 0]));
    const drip = setInterval(() => client.socket.write(Buffer.of(8)), 20);
    client.socket.on("error", () => {}).once("close", () => clearInterval(drip));
    try {
      expect(await client.next()).toMatchObject({
        payload: { case: "errorResponse", value: { message: "a message did not arrive whole within 200 ms" } },
      });
    } finally {
      clearInterval(drip);
    }
  });
});

describe("a server of the base", () => {
  const answers = (request: { readonly payload: Payload }): Payload | undefined => {
    const { case: name, value } = request.payload;
    if (name === "initializeRequest")
      return {
        case: "initializeResponse",
        value: { protocolVersion: "1.0.0", capabilities: { tools: {} }, metadata: { name: "old", version: "3", region: "x" } },
      };
    if (name === "listToolsRequest")
      return value["cursor"] === ""
        ? { case: "listToolsResponse", value: { tools: [{ name: "a" }], nextCursor: "n" } }
        : { case: "listToolsResponse", value: { tools: [{ name: "b", metadata: { k: "v" } }] } };
    if (name !== "callToolRequest") return { case: "errorResponse", value: { code: -32601, message: "no such thing" } };
    if (value["name"] === "bad")
      return { case: "callToolResponse", value: { result: { case: "error", value: { code: -33003, message: "too slow" } } } };
    return {
      case: "callToolResponse",
      value: { result: { case: "success", value: { content: [{ content: { case: "text", value: "hi" } }] } } },
    };
  };

  it("is a legacy server to our client, with what it has", async () => {
    const { server, address } = await baseServer(answers);
    const client = kept(await connect(address));
    expect(client.server.era).toBe("legacy");
    expect(client.server).toMatchObject({ info: { name: "old", version: "3" }, capabilities: { tools: {} } });
    const tools = [];
    for await (const tool of client.tools()) tools.push(tool);
    expect(tools).toEqual(
      [
        { name: "a", description: undefined, inputSchema: { type: "object" } },
        { name: "b", description: undefined, inputSchema: { type: "object" }, _meta: { k: "v" } },
      ].map(({ description, ...tool }) => tool),
    );
    expect(await client.callTool("hello", { x: 1 })).toMatchObject({ content: [{ type: "text", text: "hi" }] });
    expect(await client.callTool("bad")).toMatchObject({
      isError: true,
      content: [{ text: "too slow" }],
      _meta: { "buf.mcp.v1/error": { code: -33003 } },
    });
    await expect(client.call("prompts/list", {})).rejects.toMatchObject({
      code: "unknown-method",
      message: "the base of proto-mcp has no prompts/list",
    });
    server.close();
  });

  it("that is of another major is refused, and nobody falls back to JSON", async () => {
    const { server, address } = await baseServer(() => ({ case: "errorResponse", value: { code: -33002, message: "2.x only" } }));
    await expect(connect(address)).rejects.toMatchObject({ message: "2.x only", rpcCode: -33002 });
    server.close();
  });
});

describe("both protocols in one place", () => {
  const child = fileURLToPath(new URL("../fixtures/contract-server.mjs", import.meta.url));
  const command = (address: string) => ({ command: process.execPath, args: [child, address, "legacy", "modern"] });

  it("a command that listens on proto+stdio: takes a client of JSON-RPC too", async () => {
    const client = kept(await connect(command("proto+stdio:")));
    expect(await client.callTool("echo", { text: "x" })).toBeDefined();
  });

  it("a client falls back to JSON-RPC, on the same command and the same address", async () => {
    const started = kept(await connect({ ...command("stdio:"), speaks: "proto+stdio" }, { probeMs: 700, onStderr() {} }));
    expect(await started.callTool("echo", { text: "x" })).toBeDefined();
    const listener = await serving("tcp://127.0.0.1:0");
    const dialed = kept(await connect(`proto+${listener.address}`, { probeMs: 100 }));
    expect((await dialed.callTool("echo", { a: 1 })).content).toEqual([{ type: "text", text: '{"a":1}' }]);
    await expect(connect(`proto+${listener.address}`, { probeMs: 100, jsonToo: false })).rejects.toMatchObject({ code: "unavailable" });
  });

  it("a client falls back on WebSocket, whether the server closes, says nothing or answers the frame with text", async () => {
    const error = { jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } };
    const reactions: ((socket: WebSocket) => void)[] = [
      (socket) => socket.close(1003),
      () => {},
      (socket) => socket.send(JSON.stringify(error)),
    ];
    for (const react of reactions) {
      const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
      await once(server, "listening");
      server.on("connection", (socket) =>
        socket.on("message", (data, binary) => {
          if (binary) return react(socket);
          const { id, method } = JSON.parse(String(data)) as { id?: number; method: string };
          const result = {
            protocolVersion: "2025-06-18",
            capabilities: { tools: {} },
            serverInfo: { name: "text", version: "1" },
            content: [],
          };
          const answer = /^(initialize|tools\/call)$/.test(method) ? { result } : { error: { code: -32601, message: "no" } };
          if (id !== undefined) socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
        }),
      );
      const client = await connect(`proto+ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { probeMs: 300 });
      expect(client.server.info).toMatchObject({ name: "text" });
      expect(await client.callTool("any")).toMatchObject({ content: [] });
      await client.close();
      server.close();
    }
  });

  it("one port takes both, told by the first byte", async () => {
    const { address } = await serving("any://127.0.0.1:0");
    const authority = address.slice("any://".length);
    for (const scheme of ["proto+tcp", "tcp"]) {
      const client = kept(await connect(`${scheme}://${authority}`, { jsonToo: false }));
      expect((await client.callTool("echo", { a: scheme })).content).toEqual([{ type: "text", text: `{"a":"${scheme}"}` }]);
    }
    // A length that no message may have is nothing that is mounted: HTTP answers it.
    const socket = connectSocket(Number(new URL(`http://${authority}`).port), "127.0.0.1");
    socket.write(Buffer.from([0x1f, 0, 0, 0]));
    const [said] = await once(socket, "data");
    expect(String(said)).toMatch(/^HTTP\/1\.1 400/);
    socket.destroy();
  });
});
