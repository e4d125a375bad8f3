import { once } from "node:events";
import { createServer as createTcpServer } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import * as grpc from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { connect, createServer, Fault, serve } from "../../src/api/index.js";
import { bridge } from "../../src/bridge/index.js";
import { typedTools } from "../../src/schema/index.js";
import { baseClient, type Envelope, framed, frames, initialize, message, read } from "./base-peer.js";

// Raw peers that know the text of proto-mcp 1.0 alone, and send what it does not allow.

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
});
const kept = <T extends AsyncDisposable>(each: T): T => {
  open.push(each);
  return each;
};

async function serving(address = "proto+tcp://127.0.0.1:0", options: object = {}) {
  const ran: unknown[] = [];
  let release: () => void = () => {};
  const server = createServer({ name: "echo", version: "1.0.0" });
  const schema = { type: "object", properties: { a: { type: "string" } } };
  server.tool("echo", { inputSchema: schema, _meta: { "buf.mcp.v1/bsr_ref": "buf.build/acme/tools/acme.v1.Echo:v1" } }, (args) => {
    ran.push(args);
    return JSON.stringify(args);
  });
  server.tool("wait", {}, async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return "waited";
  });
  server.tool("picture", {}, () => ({ isError: true, content: [{ type: "image", data: "AAEC", mimeType: "image/png" }] }));
  const listener = kept(await serve(server, address, options));
  return { ran, address: listener.address, release: () => release() };
}

/** A bridge as the command makes it, on every wire. */
async function bridged(to: string): Promise<AsyncDisposable & { readonly address: string }> {
  const made = await bridge({ listen: ["any://127.0.0.1:0"], to, layers: [typedTools()] });
  return { address: made.listeners[0]?.address as string, [Symbol.asyncDispose]: () => made.close() };
}

async function initialized(address: string) {
  const client = await baseClient(address);
  client.send(1n, "initializeRequest", initialize);
  expect(await client.next()).toMatchObject({ id: 1n, payload: { case: "initializeResponse" } });
  return client;
}

const text = (said: string) => ({ result: { case: "success", value: { content: [{ content: { case: "text", value: said } }] } } });
const STRUCT = "type.googleapis.com/google.protobuf.Struct";
const numbers = (fields: Record<string, number>) => ({
  typeUrl: STRUCT,
  value: toBinary(
    StructSchema,
    create(StructSchema, {
      fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { kind: { case: "numberValue", value } }])),
    } as never),
  ),
});

/** Levels of nesting in time that grows with their number: the innermost comes last. */
function nested(levels: number, head: (inside: number) => Uint8Array): Buffer {
  const heads: Uint8Array[] = [];
  let inside = 0;
  for (let level = 0; level < levels; level++) {
    const made = head(inside);
    heads.push(made);
    inside += made.length;
  }
  return Buffer.concat(heads.reverse());
}

function tagged(number: number, length: number): Buffer {
  const bytes = [number * 8 + 2];
  let rest = length;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

const ANY = "type.googleapis.com/google.protobuf.Any";
/** A Value that holds a ListValue of one Value, and so on. */
const lists = (levels: number) =>
  nested(levels, (inside) => {
    const value = tagged(1, inside);
    return Buffer.concat([tagged(6, value.length + inside), value]);
  });
const anys = (levels: number) => nested(levels, (inside) => Buffer.concat([tagged(1, ANY.length), Buffer.from(ANY), tagged(2, inside)]));
const DEEP = [
  { typeUrl: "type.googleapis.com/google.protobuf.Value", value: lists(100_000) },
  { typeUrl: ANY, value: anys(100_000) },
];

describe("a server that is not there", () => {
  it.each(["proto+grpc://", "proto+tcp://", "proto+ws://"])("or hangs up is a Fault that says so, on %s", async (scheme) => {
    const raw = createTcpServer((socket) => socket.on("error", () => {}).destroy()).listen(0, "127.0.0.1");
    await once(raw, "listening");
    const { port } = raw.address() as { port: number };
    const failed = (at: number) => connect(`${scheme}127.0.0.1:${at}`).catch((error: unknown) => error);
    for (const fault of [await failed(port), await failed(1)]) {
      expect(fault).toBeInstanceOf(Fault);
      expect(fault).toMatchObject({ code: "unavailable", message: expect.stringMatching(/closed|cut|nothing listens there/) });
    }
    raw.close();
  });
});

describe("a version", () => {
  it("of another major is refused with what is supported, and any 1.x is served as the text says", async () => {
    const { address } = await serving();
    for (const protocolVersion of ["2.0.0", "garbage", "", "0.9.0", "10.0.0", "v1.0.0"]) {
      const client = await baseClient(address);
      client.send(1n, "initializeRequest", { ...initialize, protocolVersion });
      expect(await client.next(), protocolVersion).toMatchObject({
        id: 1n,
        payload: { case: "errorResponse", value: { code: -33002, data: { supported: ["1.0.0", "1.3.0"], requested: protocolVersion } } },
      });
      client.send(2n, "callToolRequest", { name: "echo" });
      expect(await client.next(), protocolVersion).toMatchObject({ id: 2n, payload: { case: "errorResponse", value: { code: -32602 } } });
      client.socket.destroy();
    }
    // What others call 1.3 or later has none of the additions.
    for (const protocolVersion of ["1.0", "1.0.0-beta", "1.2.9", "1.3.0", "1.999", "1.999.0"]) {
      const client = await baseClient(address);
      client.send(1n, "initializeRequest", { ...initialize, protocolVersion });
      expect(await client.next(), protocolVersion).toMatchObject({ payload: { case: "initializeResponse" } });
      client.send(2n, "callToolRequest", { name: "echo" });
      expect(await client.next(), protocolVersion).toMatchObject({ id: 2n, payload: { case: "callToolResponse", value: text("{}") } });
      client.socket.destroy();
    }
  });
});

describe("messages that are out of place", () => {
  it("a duplicate id is refused, and the call that has it is answered", async () => {
    const { address, release } = await serving();
    const client = await initialized(address);
    for (const [id, name, value] of [
      [2n, "listToolsRequest", {}],
      [3n, "callToolRequest", { name: "echo" }],
    ] as const) {
      client.send(id, "callToolRequest", { name: "wait" });
      client.send(id, name, value);
      expect(await client.next()).toMatchObject({ id, payload: { case: "errorResponse", value: { code: -32600 } } });
      release();
      expect(await client.next()).toMatchObject({ id, payload: { case: "callToolResponse", value: text("waited") } });
      client.send(id, "listToolsRequest", {});
      expect(await client.next()).toMatchObject({ id, payload: { case: "listToolsResponse" } });
    }
    client.socket.destroy();
  });

  it("an empty message is ignored, two payloads are refused under their id, and answers that nobody asked for change nothing", async () => {
    const { ran, address } = await serving();
    const client = await initialized(address);
    client.socket.write(Buffer.alloc(8));
    client.send(77n, "callToolResponse", {});
    client.send(78n, "initializeResponse", { protocolVersion: "1.0.0" });
    client.send(0n, "errorResponse", { code: 1 });
    const list = message(2n, "listToolsRequest", {});
    client.socket.write(framed(Buffer.concat([list, message(2n, "callToolRequest", { name: "echo" }).subarray(2)])));
    expect(await client.next()).toMatchObject({ id: 2n, payload: { case: "errorResponse", value: { code: -32600 } } });
    client.send(0n, "callToolRequest", { name: "echo" });
    expect(await client.next()).toMatchObject({ id: 0n, payload: { case: "errorResponse", value: { code: -32600 } } });
    expect(ran).toEqual([]);
    // A field and a payload that nobody knows yet, beside one that is known.
    client.socket.write(
      framed(Buffer.concat([message(3n, "callToolRequest", { name: "echo" }), Uint8Array.of(0xd2, 0x05, 0, 0xf8, 0x07, 1)])),
    );
    expect(await client.next()).toMatchObject({ id: 3n, payload: { case: "callToolResponse", value: text("{}") } });
    client.socket.destroy();
  });

  it("requests before initialize are refused", async () => {
    const { ran, address } = await serving();
    const client = await baseClient(address);
    for (const [name, value] of [
      ["callToolRequest", { name: "echo" }],
      ["listToolsRequest", {}],
      ["readResourceRequest", { uri: "a:b" }],
    ] as const) {
      client.send(1n, name, value);
      expect(await client.next()).toMatchObject({ id: 1n, payload: { case: "errorResponse", value: { code: -32602 } } });
    }
    expect(ran).toEqual([]);
    client.socket.destroy();
  });

  it("lines of JSON after frames end the connection, and nothing runs", async () => {
    const { ran, address } = await serving("any://127.0.0.1:0");
    const client = await initialized(address);
    client.socket.write('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}\n');
    expect(await client.next()).toMatchObject({ id: 0n, payload: { case: "errorResponse" } });
    expect(await client.next()).toBeUndefined();
    expect(ran).toEqual([]);
  });
});

describe("bytes that come slowly", () => {
  it("one at a time are a message", async () => {
    const { address } = await serving();
    const client = await initialized(address);
    const a = "x".repeat(10_000);
    const value = toBinary(StructSchema, create(StructSchema, { fields: { a: { kind: { case: "stringValue", value: a } } } } as never));
    const bytes = framed(message(2n, "callToolRequest", { name: "echo", arguments: { typeUrl: STRUCT, value } }));
    client.socket.setNoDelay();
    for (const byte of bytes) {
      client.socket.write(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await client.next()).toMatchObject({ id: 2n, payload: { value: text(JSON.stringify({ a })) } });
    client.socket.destroy();
  });

  it("have the time of one message together, and not each", async () => {
    const { address } = await serving("proto+tcp://127.0.0.1:0", { limits: { messageMs: 200 } });
    const client = await initialized(address);
    let answer: Envelope | undefined;
    const answered = client.next().then((given) => {
      answer = given;
    });
    client.socket.on("error", () => {});
    client.socket.write(Uint8Array.of(0, 1, 0, 0));
    while (answer === undefined && !client.socket.destroyed) {
      client.socket.write(Uint8Array.of(8));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await answered;
    expect(answer).toMatchObject({
      payload: { case: "errorResponse", value: { message: "a message did not arrive whole within 200 ms" } },
    });
    expect(await client.next()).toBeUndefined();
  });
});

describe("arguments", () => {
  it("that break the JSON Schema of a tool are -33001 and name the field; a failure that is no text keeps its content", async () => {
    const { ran, address } = await serving();
    const client = await initialized(address);
    client.send(2n, "callToolRequest", { name: "echo", arguments: numbers({ a: 5 }) });
    expect(await client.next()).toMatchObject({
      id: 2n,
      payload: {
        case: "callToolResponse",
        value: { result: { case: "error", value: { code: -33001, message: expect.stringContaining("arguments.a: must be string") } } },
      },
    });
    expect(ran).toEqual([]);
    client.send(3n, "callToolRequest", { name: "picture" });
    expect(await client.next()).toMatchObject({
      payload: { value: { result: { case: "success", value: { isError: true, content: [{ content: { case: "image" } }] } } } },
    });
    client.socket.destroy();
  });

  it("that are a message are nothing for a tool of JSON, at a server and behind a bridge, while JSON that looks like one is", async () => {
    const { ran, address } = await serving("any://127.0.0.1:0");
    const made = kept(await bridged(address.replace("any:", "tcp:")));
    const failed = { payload: { case: "callToolResponse", value: { result: { case: "error", value: { code: -33001 } } } } };
    const refused = { payload: { case: "errorResponse", value: { code: -32600 } } };
    for (const at of [address, made.address]) {
      const client = await initialized(at);
      for (const [typeUrl, value, answer] of [
        ["type.googleapis.com/acme.X", Uint8Array.of(8, 1), failed],
        ["buf.build/acme/tools/acme.X", new Uint8Array(0), failed],
        ["acme.X", new Uint8Array(0), failed],
        ["type.googleapis.com/", new Uint8Array(0), failed],
        ["type.googleapis.com/google.protobuf.Empty", new Uint8Array(0), failed],
        ["type.googleapis.com/google.protobuf.StringValue", Uint8Array.of(0x0a, 0), refused],
        ["", new Uint8Array(0), refused],
        ["", Uint8Array.of(8, 1), refused],
      ] as const) {
        client.send(2n, "callToolRequest", { name: "echo", arguments: { typeUrl, value } });
        expect(await client.next(), typeUrl).toMatchObject({ id: 2n, ...answer });
      }
      expect(ran).toEqual([]);
      for (const prefix of ["type.googleapis.com/", "buf.build/acme/tools/", "", "//"]) {
        const args = { typeUrl: `${prefix}google.protobuf.Struct`, value: new Uint8Array(0) };
        client.send(3n, "callToolRequest", { name: "echo", arguments: args });
        expect(await client.next(), prefix).toMatchObject({ id: 3n, payload: { value: text("{}") } });
      }
      client.socket.destroy();
      const plain = { "@type": "mine", value: "AAEC" };
      const json = kept(await connect(at.replace("any:", "tcp:")));
      const proto = kept(await connect(at.replace("any:", "proto+tcp:")));
      for (const each of [json, proto])
        expect((await each.callTool("echo", plain)).content).toMatchObject([{ text: JSON.stringify(plain) }]);
      ran.length = 0;
    }
  });

  it("of a tool that runs past its time are answered with -33003", async () => {
    const server = createServer({ name: "late", version: "1" }).tool("late", {}, () => {
      throw new Fault("deadline", "too late");
    });
    const client = await initialized(kept(await serve(server, "proto+tcp://127.0.0.1:0")).address);
    client.send(2n, "callToolRequest", { name: "late" });
    expect(await client.next()).toMatchObject({ id: 2n, payload: { case: "errorResponse", value: { code: -33003, message: "too late" } } });
    client.socket.destroy();
  });

  it("row 23: nested 100,000 deep, or an Any in an Any without an end, is an error, and the next call is answered", async () => {
    const { ran, address } = await serving();
    const client = await initialized(address);
    for (const args of DEEP) {
      client.send(2n, "callToolRequest", { name: "echo", arguments: args });
      expect(await client.next()).toMatchObject({ id: 2n, payload: { case: "errorResponse", value: { code: -32600 } } });
    }
    expect(ran).toEqual([]);
    client.send(4n, "callToolRequest", { name: "echo" });
    expect(await client.next()).toMatchObject({ id: 4n, payload: { case: "callToolResponse" } });
    client.socket.destroy();
  });
});

describe("a list by references", () => {
  it("has the tools with these, of a server that knows nothing of them", async () => {
    const { address } = await serving();
    const client = await initialized(address);
    const listed = async (id: bigint, request: object): Promise<string[]> => {
      client.send(id, "listToolsRequest", request);
      const { tools } = ((await client.next()) as Envelope).payload.value as { tools: { name: string }[] };
      return tools.map(({ name }) => name);
    };
    expect(await listed(2n, { bsrRefs: ["buf.build/acme/tools/acme.v1.Echo:v1"] })).toEqual(["echo"]);
    expect(await listed(3n, { bsrRefs: ["buf.build/acme/tools/acme.v1.Other:v1"] })).toEqual([]);
    expect(await listed(4n, {})).toEqual(["echo", "wait", "picture"]);
    client.socket.destroy();
  });
});

describe("binary frames of WebSocket", () => {
  it("may begin with their length, which has to be right", async () => {
    const { ran, address } = await serving("proto+ws://127.0.0.1:0");
    const socket = new WebSocket(address.slice("proto+".length));
    await once(socket, "open");
    const ask = async (bytes: Uint8Array): Promise<Envelope> => {
      socket.send(bytes);
      const [said] = (await once(socket, "message")) as [Buffer];
      return read(said);
    };
    expect(await ask(framed(message(1n, "initializeRequest", initialize)))).toMatchObject({
      id: 1n,
      payload: { case: "initializeResponse" },
    });
    const call = message(2n, "callToolRequest", { name: "echo" });
    const broken = { id: 0n, payload: { case: "errorResponse", value: { code: -32700 } } };
    for (const change of [-1, 1, 5]) {
      const wrong = framed(call);
      wrong.writeUInt32BE(call.length + change);
      expect(await ask(wrong)).toMatchObject(broken);
    }
    expect(await ask(Uint8Array.of(0))).toMatchObject(broken);
    expect(await ask(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x08]))).toMatchObject(broken);
    expect(await ask(Buffer.concat([framed(call), framed(call)]))).toMatchObject(broken);
    expect(ran).toEqual([]);
    socket.send(Buffer.alloc(0));
    expect(await ask(framed(call))).toMatchObject({ id: 2n, payload: { case: "callToolResponse" } });
    socket.send("text");
    const [code] = (await once(socket, "close")) as [number];
    expect(code).toBe(1003);
  });
});

describe("grpc-js", () => {
  const same = (bytes: Buffer): Buffer => bytes;

  it("gets a status for what is wrong with a unary call, which is INVALID_ARGUMENT for row 23", async () => {
    const { ran, address } = await serving("proto+grpc://127.0.0.1:0");
    const client = new grpc.Client(address.slice("proto+grpc://".length), grpc.credentials.createInsecure());
    const unary = (method: string, bytes: Uint8Array): Promise<unknown> =>
      new Promise((resolve) => {
        client.makeUnaryRequest(`/buf.mcp.v1.MCPService/${method}`, same, same, Buffer.from(bytes), (error, value) =>
          resolve(
            error === null ? value?.length : { code: error.code, rpc: error.metadata.get("mcp-error-code")[0], details: error.details },
          ),
        );
      });
    /** The message of a unary call: an MCPMessage without its id, and without the head of its payload. */
    const body = (name: string, value: object): Uint8Array => {
      const whole = message(0n, name, value);
      let at = 1;
      while (((whole[at] as number) & 0x80) !== 0) at++;
      return whole.subarray(at + 1);
    };
    expect(await unary("CallTool", Uint8Array.of(0xff, 0xff))).toMatchObject({ code: 3, rpc: "-32700" });
    // The name that is not there ends the message with a space.
    expect(await unary("CallTool", new Uint8Array())).toEqual({ code: 3, rpc: "-32602", details: "unknown tool: " });
    expect(await unary("Initialize", body("initializeRequest", { protocolVersion: "2.0.0" }))).toMatchObject({ code: 9, rpc: "-33002" });
    expect(await unary("Nothing", new Uint8Array())).toMatchObject({ code: 12, rpc: "-32601" });
    for (const args of DEEP)
      expect(await unary("CallTool", body("callToolRequest", { name: "echo", arguments: args }))).toMatchObject({ code: 3, rpc: "-32600" });
    expect(ran).toEqual([]);
    expect(await unary("CallTool", body("callToolRequest", { name: "echo" }))).toBeGreaterThan(0);
    expect(ran).toHaveLength(1);
    client.close();
  });

  it("is answered on Session as on a stream", async () => {
    const { address, release } = await serving("proto+grpc://127.0.0.1:0");
    const client = new grpc.Client(address.slice("proto+grpc://".length), grpc.credentials.createInsecure());
    const session = client.makeBidiStreamRequest("/buf.mcp.v1.MCPService/Session", same, same);
    session.on("error", () => {});
    const answers = session[Symbol.asyncIterator]();
    const next = async (): Promise<Envelope> => read((await answers.next()).value as Buffer);
    const send = (bytes: Uint8Array): boolean => session.write(Buffer.from(bytes));
    send(Buffer.alloc(0));
    send(Uint8Array.of(0xff));
    expect(await next()).toMatchObject({ id: 0n, payload: { case: "errorResponse", value: { code: -32700 } } });
    send(message(1n, "callToolRequest", { name: "echo" }));
    expect(await next()).toMatchObject({ id: 1n, payload: { case: "errorResponse", value: { code: -32602 } } });
    send(message(2n, "initializeRequest", initialize));
    expect(await next()).toMatchObject({ id: 2n, payload: { case: "initializeResponse" } });
    // Frames inside frames, and JSON, which gRPC does not carry.
    for (const bytes of [framed(message(3n, "listToolsRequest", {})), Buffer.from('{"id":3,"listToolsRequest":{}}')]) {
      send(bytes);
      expect(await next()).toMatchObject({ id: 0n, payload: { case: "errorResponse", value: { code: -32700 } } });
    }
    send(message(4n, "callToolRequest", { name: "wait" }));
    send(message(4n, "listToolsRequest", {}));
    expect(await next()).toMatchObject({ id: 4n, payload: { case: "errorResponse", value: { code: -32600 } } });
    release();
    expect(await next()).toMatchObject({ id: 4n, payload: { case: "callToolResponse", value: text("waited") } });
    session.cancel();
    client.close();
  });
});

describe("a server that our client dials", () => {
  type Say = (request: Envelope, say: (bytes: Uint8Array) => void, end: () => void) => void;
  const hello = { protocolVersion: "1.0.0", capabilities: { tools: {} } };

  /** A server of the base that answers the handshake as it is told. */
  async function odd(greets: Say): Promise<{ readonly address: string; readonly close: () => void }> {
    const server = createTcpServer(async (socket) => {
      socket.on("error", () => {});
      for await (const request of frames(socket)) {
        if (request.payload.case === "initializeRequest")
          greets(
            request,
            (bytes) => void socket.write(bytes),
            () => socket.end(),
          );
        else socket.write(framed(message(request.id, "callToolResponse", text(request.payload.case))));
      }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return { address: `proto+tcp://127.0.0.1:${(server.address() as { port: number }).port}`, close: () => server.close() };
  }
  const answer = (request: Envelope, value: object = hello): Buffer => framed(message(request.id, "initializeResponse", value));

  const fine: Record<string, Say> = {
    "says something unknown first": (request, say) => {
      say(framed(Uint8Array.of(0xd2, 0x05, 0)));
      say(Buffer.alloc(4));
      say(answer(request));
    },
    "answers what nobody asked first": (request, say) => {
      say(framed(message(77n, "initializeResponse", { protocolVersion: "9.0.0" }).subarray(0, 2)));
      say(framed(message(78n, "listToolsResponse", {})));
      say(answer(request));
    },
    "calls something else 1.999": (request, say) => say(answer(request, { ...hello, protocolVersion: "1.999.0" })),
  };
  for (const [name, greets] of Object.entries(fine)) {
    it(`and that ${name} is used`, async () => {
      const { address, close } = await odd(greets);
      const client = kept(await connect(address, { jsonToo: false }));
      expect(await client.call("tools/call", { name: "a", arguments: { "@type": "a/acme.A", value: "" } })).toMatchObject({
        content: [{ text: "callToolRequest" }],
      });
      close();
    });
  }

  const bad: Record<string, readonly [Say, object]> = {
    "is of another major": [(request, say) => say(answer(request, { ...hello, protocolVersion: "2.0.0" })), { rpcCode: -33002 }],
    "answers with another payload": [
      (request, say) => say(framed(message(request.id, "listToolsResponse", {}))),
      { code: "parse", message: "the peer answered initialize_request with another payload than its answer" },
    ],
    "claims 4 GiB": [(_request, say) => say(Buffer.from([0xff, 0xff, 0xff, 0xff])), { code: "overload" }],
    "is cut off": [
      (request, say, end) => {
        say(answer(request).subarray(0, 8));
        end();
      },
      { code: "parse" },
    ],
    "is HTTP": [
      (_request, say, end) => {
        say(Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"));
        end();
      },
      { code: "overload" },
    ],
  };
  for (const [name, [greets, fault]] of Object.entries(bad)) {
    it(`and that ${name} is a fault`, async () => {
      const { address, close } = await odd(greets);
      await expect(connect(address, { jsonToo: false })).rejects.toMatchObject(fault);
      close();
    });
  }
});
