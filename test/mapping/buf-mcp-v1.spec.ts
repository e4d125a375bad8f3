import { createFileRegistry, type DescMessage, fromBinary, type Registry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messages } from "../../src/codec/bufmcpv1/dialect.js";
import { MessageCodec } from "../../src/codec/bufmcpv1/index.js";
import { notifications, requests, results } from "../../src/codec/bufmcpv1/payloads.js";
import { file_buf_mcp_v1_mcp, MCPMessageSchema } from "../../src/codec/gen/buf/mcp/v1/mcp_pb.js";
import { type OutgoingMessage, parseJson, parseMessage, reserialise } from "../../src/codec/index.js";
import { type JsonObject, jsonText } from "../../src/core/index.js";
import { connection } from "../../tools/proto/harness.mjs";
import { cases } from "../../tools/proto/shapes.mjs";
import { hostile } from "../fixtures/mcp/hostile.js";
import { legacy } from "../fixtures/mcp/legacy.js";
import { modern } from "../fixtures/mcp/modern.js";
import { buf } from "./buf.js";

const codec = { MessageCodec, parseMessage, reserialise, parseJson, jsonText };
const base: Registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, buf("build", "test/fixtures/buf-mcp/base", "-o", "-")));
const baseMessage = base.getMessage("buf.mcp.v1.MCPMessage") as DescMessage;
const described = new Map(file_buf_mcp_v1_mcp.messages.map((message) => [message.name, message]));

describe("the tables of buf.mcp.v1", () => {
  it("have every field of the proto, and no other", () => {
    const byHand = ["MCPMessage", "JsonRpc", "ProgressToken"];
    expect([...messages.map(({ name }) => name), ...byHand].sort()).toEqual([...described.keys()].sort());
    for (const message of messages) {
      const fields = new Map([[1000, "other_members"]]);
      for (const { number, name, twin, flag } of message.fields) {
        fields.set(number, name);
        if (twin !== undefined) fields.set(twin, `${name}_json`);
        if (flag !== undefined) fields.set(flag, `${name}_is_number`);
      }
      const sorted = (entries: Iterable<readonly [number, string]>) => [...entries].sort(([a], [b]) => a - b);
      const proto = (described.get(message.name) as DescMessage).fields.map(({ number, name }) => [number, name] as const);
      expect(sorted(proto), message.name).toEqual(sorted(fields));
    }
  });

  it("tell what the text of 1.0 has from what was added, and leave the text as it is", () => {
    for (const message of messages) {
      const known = base.getMessage(`buf.mcp.v1.${message.name}`);
      for (const field of message.fields) {
        const inBase = known?.fields.find(({ number }) => number === field.number);
        expect(inBase?.name, `${message.name}.${field.name}`).toBe(field.added === true ? undefined : field.name);
      }
    }
    for (const type of base) {
      if (type.kind !== "message" || !type.typeName.startsWith("buf.mcp.v1.")) continue;
      const { typeName, fields } = type;
      const ours = described.get(typeName.slice(typeName.lastIndexOf(".") + 1));
      for (const { number, name } of fields) expect(ours?.fields.find((field) => field.number === number)?.name).toBe(name);
    }
  });

  it("have the payloads of the proto", () => {
    const oneof = new Map(described.get("MCPMessage")?.oneofs[0]?.fields.map(({ number, message }) => [number, message?.name]));
    for (const { number, table } of [requests, results, notifications].flatMap((map) => [...map.values()]))
      expect(oneof.get(number)).toBe(table.name);
  });
});

describe("JSON comes back from buf.mcp.v1 as it went in", () => {
  for (const [name, fixtures] of Object.entries({ "2025-11-25": legacy, "2026-07-28": modern, hostile })) {
    it(`${name}, message by message`, () => {
      for (const one of fixtures) expect(connection(codec, one).wrong, JSON.stringify(one)).toBeUndefined();
    });
  }

  it("whatever it is", () => {
    fc.assert(
      fc.property(cases, (one) => connection(codec, one).wrong === undefined),
      { seed: 20260728, numRuns: 2000 },
    );
  });

  it("even if generated code had it in its hands on the way", () => {
    const relay = (bytes: Uint8Array): Uint8Array => {
      const message = fromBinary(MCPMessageSchema, bytes);
      expect(message.$unknown ?? []).toEqual([]);
      return toBinary(MCPMessageSchema, message);
    };
    for (const one of [...legacy, ...modern]) expect(connection({ ...codec, relay }, one).wrong, JSON.stringify(one)).toBeUndefined();
  });
});

describe("a peer of the base", () => {
  const peer = () => new MessageCodec({ depth: 100 }, false);
  const request = (method: string, params: JsonObject): OutgoingMessage => ({ jsonrpc: "2.0", id: 1, method, params });
  const read = (bytes: Uint8Array | undefined): unknown =>
    JSON.parse(
      JSON.stringify(fromBinary(baseMessage, bytes as Uint8Array), (_, value) => (typeof value === "bigint" ? Number(value) : value)),
    );
  /** What a client of the base gets as the answer to a call. */
  const answered = (method: string, result: JsonObject): unknown => {
    const server = peer();
    server.decode(peer().encode(request(method, {})) as Uint8Array);
    return read(server.encode({ jsonrpc: "2.0", id: 1, result }));
  };

  it("is told of a call what its text can say, and else nothing", () => {
    const said = request("tools/call", {
      name: "echo",
      arguments: { n: 1 },
      _meta: { trace_id: "t", progressToken: 1, "dev.anywire/window": 9 },
    });
    expect(read(peer().encode(said))).toMatchObject({
      id: 1,
      payload: {
        case: "callToolRequest",
        value: { name: "echo", arguments: { typeUrl: "type.googleapis.com/google.protobuf.Struct" }, metadata: { trace_id: "t" } },
      },
    });
    const refused = (message: OutgoingMessage) => {
      try {
        peer().encode(message);
      } catch (error) {
        return (error as Error).message;
      }
      return "sent";
    };
    expect(refused(request("tools/call", { name: "a", task: {} }))).toBe(
      "the proto-mcp server cannot be told params.task: the base of buf.mcp.v1 has no field for it",
    );
    expect(refused(request("tools/call", { name: "a", priority: 1 }))).toContain("params.priority");
    expect(refused(request("tools/call", { name: "a", arguments: { deep: ["\ud800"] } }))).toContain("params.arguments.deep[0]");
    expect(refused(request("tools/call", { name: "a", arguments: parseJson('{"n":12345678901234567891}') as JsonObject }))).toContain(
      "params.arguments.n",
    );
    expect(refused(request("tools/call", { name: "a", _meta: { user: { id: 1 } } }))).toContain("params._meta.user");
    expect(refused(request("prompts/list", {}))).toBe("the base of proto-mcp has no prompts/list");
    expect(peer().encode({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })).toBeUndefined();
  });

  it("gets an error for an answer that it could not read whole", () => {
    const error = { payload: { case: "errorResponse", value: { code: -32603 } } };
    expect(answered("tools/call", { content: [], inputRequests: {}, resultType: "input_required" })).toMatchObject(error);
    expect(answered("resources/read", { contents: [{ uri: "a:b", text: "\ud800" }] })).toMatchObject(error);
    expect(answered("tools/call", { content: [{ type: "text", text: "a", annotations: {} }], resultType: "complete" })).toMatchObject({
      payload: { case: "callToolResponse", value: { result: { case: "success", value: { content: [{ content: { value: "a" } }] } } } },
    });
  });

  it("gets the code of the text for a tool that ran past its time", () => {
    const late = (method: string, code: number): unknown => {
      const server = peer();
      server.decode(peer().encode(request(method, {})) as Uint8Array);
      return read(server.encode({ jsonrpc: "2.0", id: 1, error: { code, message: "late" } }));
    };
    for (const code of [-32001, -31002]) expect(late("tools/call", code)).toMatchObject({ payload: { value: { code: -33003 } } });
    expect(late("resources/read", -31002)).toMatchObject({ payload: { value: { code: -31002 } } });
    expect(late("tools/call", -32603)).toMatchObject({ payload: { value: { code: -32603 } } });
  });

  it("gets an image as base64, and any other content as data", () => {
    const content = [
      { type: "image", data: "AAEC", mimeType: "image/png" },
      { type: "audio", data: "AAEC", mimeType: "audio/wav" },
    ];
    const server = peer();
    const client = peer();
    server.decode(client.encode(request("tools/call", { name: "a" })) as Uint8Array);
    const bytes = server.encode({ jsonrpc: "2.0", id: 1, result: { content } }) as Uint8Array;
    expect(Buffer.from(bytes).includes("AAEC")).toBe(true);
    expect(client.decode(bytes)).toEqual([{ kind: "result", id: 1, value: { content } }]);
  });

  it("has its own error of a tool, which comes back as it was", () => {
    const failed = toBinary(baseMessage, {
      $typeName: "buf.mcp.v1.MCPMessage",
      id: 1n,
      payload: {
        case: "callToolResponse",
        value: {
          $typeName: "buf.mcp.v1.CallToolResponse",
          result: { case: "error", value: { $typeName: "buf.mcp.v1.Error", code: -33003, message: "too slow", data: { ms: "5" } } },
          metadata: { cost: "1" },
        },
      },
    } as never);
    const [result] = peer().decode(failed);
    expect(result).toEqual({
      kind: "result",
      id: 1,
      value: {
        content: [{ type: "text", text: "too slow" }],
        isError: true,
        _meta: { cost: "1", "buf.mcp.v1/error": { code: -33003, message: "too slow", data: { ms: "5" } } },
      },
    });
    expect(answered("tools/call", (result as { value: JsonObject }).value)).toEqual(read(failed));
  });

  it("may count its calls beyond what a double holds, and of other majors is told what is supported", () => {
    const initialize = (id: bigint, protocolVersion: string): Uint8Array =>
      toBinary(baseMessage, {
        $typeName: "buf.mcp.v1.MCPMessage",
        id,
        payload: {
          case: "initializeRequest",
          value: { $typeName: "buf.mcp.v1.InitializeRequest", protocolVersion, metadata: { name: "p", version: "2", trace: "x" } },
        },
      } as never);
    const server = new MessageCodec({ depth: 100 });
    const [opened, ready] = server.decode(initialize(2n ** 64n - 1n, "1.7.2"));
    expect(opened).toMatchObject({
      kind: "request",
      id: "18446744073709551615",
      method: "initialize",
      params: { clientInfo: { name: "p", version: "2" } },
    });
    // A version says nothing of additions that the peer does not use.
    expect(server.full).toBe(false);
    expect(ready).toMatchObject({ method: "notifications/initialized" });
    expect(read(server.encode({ jsonrpc: "2.0", id: "18446744073709551615", error: { code: -1, message: "no" } }))).toMatchObject({
      id: 2 ** 64,
    });
    for (const version of ["2.0.0", "0.9", "", "1", "one"])
      expect(new MessageCodec().decode(initialize(1n, version)), version).toMatchObject([
        { kind: "bad", id: 1, fault: { rpcCode: -33002 } },
      ]);
    expect(new MessageCodec().decode(initialize(1n, "1.0.0"))).toMatchObject([
      { kind: "request", params: { _meta: { trace: "x" } } },
      { kind: "notification", method: "notifications/initialized" },
    ]);
  });
});
