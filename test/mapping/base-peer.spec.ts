import { create, createFileRegistry, type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import {
  type Any,
  AnySchema,
  anyPack,
  BoolValueSchema,
  DoubleValueSchema,
  FileDescriptorSetSchema,
  Int64ValueSchema,
  ListValueSchema,
  StringValueSchema,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import * as gen from "../../src/codec/gen/mcp/v1/mcp_pb.js";
import type { OutgoingMessage } from "../../src/codec/index.js";
import * as mcpv1 from "../../src/codec/mcpv1/index.js";
import { buf } from "./buf.js";

/** A peer that was compiled against the base and knows nothing of what was added. */
const base = createFileRegistry(fromBinary(FileDescriptorSetSchema, buf("build", "test/fixtures/mcp/base", "-o", "-")));
function messageOf(name: string): DescMessage {
  const found = base.getMessage(`mcp.v1.${name}`);
  if (found === undefined) throw new Error(`the base has no ${name}`);
  return found;
}
/** What the peer sends for that message of protobuf's JSON. */
const said = (name: string, value: JsonValue): Uint8Array =>
  toBinary(messageOf(name), fromJson(messageOf(name), value, { registry: base }));
/** What the peer reads in those bytes, without what it does not know. */
const heard = (name: string, bytes: Uint8Array): JsonValue =>
  toJson(messageOf(name), fromBinary(messageOf(name), bytes), { registry: base });
const plain = { twin: false };
const call = { name: "add", arguments: { a: 1, b: [true, null, "x", { c: -0.5 }] } };

/** What base and MCP say in the same words, each in the order of the fields: the bytes must be the same too. */
const same: readonly (readonly [mcpv1.MessageName, object])[] = [
  ["CallToolRequest", call],
  [
    "Tool",
    {
      name: "t",
      description: "d",
      inputSchema: { type: "object", properties: { a: { type: "number" } } },
      annotations: { title: "T", readOnlyHint: true },
    },
  ],
  ["Resource", { uri: "u", name: "n", description: "d", mimeType: "m" }],
  ["ResourceTemplate", { uriTemplate: "u", name: "n" }],
  ["Prompt", { name: "p", description: "d", arguments: [{ name: "a", description: "b", required: true }] }],
  ["GetPromptRequest", { name: "p", arguments: { a: "b", c: "" } }],
  ["ReadResourceRequest", { uri: "u" }],
  [
    "ReadResourceResponse",
    {
      contents: [
        { uri: "u", mimeType: "m", text: "t" },
        { uri: "u", blob: "AAEC" },
      ],
    },
  ],
  ["CompleteResponse", { completion: { values: ["a", ""], total: 2, hasMore: true } }],
  [
    "InitializeRequest",
    { protocolVersion: "v", capabilities: { roots: { listChanged: true }, sampling: {} }, clientInfo: { name: "n", version: "1" } },
  ],
  [
    "InitializeResponse",
    { protocolVersion: "v", capabilities: { tools: {}, logging: {} }, serverInfo: { name: "n", version: "1" }, instructions: "i" },
  ],
  ["WatchResourcesRequest", { uriPatterns: ["a", "b"], includeInitial: true }],
  ["StreamPromptCompletionResponse", { token: "t", isFinal: true, finishReason: "f" }],
];

describe("generated code", () => {
  it("reads and writes the same bytes", () => {
    for (const [name, value] of same) {
      const bytes = mcpv1.encodeMessage(name, value as never, plain);
      const theirs = said(name, value as JsonValue);
      expect(Buffer.from(bytes).toString("hex"), name).toBe(Buffer.from(theirs).toString("hex"));
      expect(mcpv1.decodeMessage(name, theirs), name).toStrictEqual(value);
    }
  });

  it("reads every twin and addition where it knows them", () => {
    const value = { name: "t", inputSchema: { a: 1 }, title: "", icons: [{ src: "s" }], _meta: { b: 2 }, "x-own": 1 };
    const read = fromBinary(gen.ToolSchema, mcpv1.encodeMessage("Tool", value, { twin: true }));
    expect(read).toMatchObject({ name: "t", title: "", icons: [{ src: "s" }] });
    expect(new TextDecoder().decode(read.inputSchemaJson)).toBe('{"a":1}');
    expect(new TextDecoder().decode(read.otherMembers)).toBe('{"x-own":1}');
    expect([read.inputSchema, read.description]).toEqual([undefined, undefined]);
    expect(new TextDecoder().decode(read.metaJson)).toBe('{"b":2}');
  });
});

describe("a peer of the base", () => {
  it("calls a tool, and gets its result", () => {
    const frame = said("SessionRequest", { messageId: "7", callTool: call });
    expect(mcpv1.decodeToServer(frame)).toStrictEqual({ kind: "request", id: "7", method: "tools/call", params: call });
    const result = {
      content: [
        { type: "text", text: "3" },
        { type: "image", data: "AA==", mimeType: "image/png", annotations: { audience: ["user"], priority: 1 } },
      ],
    };
    const answer = mcpv1.encodeToClient({ jsonrpc: "2.0", id: "7", result }, "tools/call", plain);
    expect(heard("SessionResponse", answer)).toEqual({
      inReplyTo: "7",
      callTool: {
        content: [
          { text: { text: "3" } },
          { image: { data: "AA==", mimeType: "image/png" }, annotations: { audience: "ROLE_USER", priority: 1 } },
        ],
      },
    });
  });

  it("leaves out what has its default, and means it", () => {
    const empty = new Uint8Array(0);
    expect(mcpv1.decodeMessage("CallToolResponse", empty)).toStrictEqual({ content: [] });
    expect(
      mcpv1.decodeMessage("ProgressNotification", said("ProgressNotification", { progressToken: { stringToken: "t" } })),
    ).toStrictEqual({ progressToken: "t", progress: 0 });
    expect(mcpv1.decodeMessage("CompleteRequest", said("CompleteRequest", { promptRef: { name: "p" }, argumentName: "a" }))).toStrictEqual({
      ref: { type: "ref/prompt", name: "p" },
      argument: { name: "a", value: "" },
    });
    expect(mcpv1.decodeMessage("Tool", said("Tool", { name: "t" }))).toStrictEqual({ name: "t", inputSchema: { type: "object" } });
    expect(mcpv1.decodeMessage("CallToolResponse", said("CallToolResponse", { content: [{ text: {} }] }))).toStrictEqual({
      content: [{ type: "text", text: "" }],
    });
    expect(mcpv1.decodeToServer(said("SessionRequest", { listTools: {} }))).toMatchObject({
      kind: "request",
      id: "",
      method: "tools/list",
    });
    const chunked = said("SessionRequest", { messageId: "1", readResourceChunked: { uri: "u" } });
    expect(mcpv1.decodeToServer(chunked)).toMatchObject({
      method: "resources/read",
      params: { uri: "u", _meta: { "dev.anywire/chunked": {} } },
    });
  });

  it("asks for a list, and reads items, the end and errors", () => {
    expect(
      mcpv1.decodeToServer(
        said("SessionRequest", {
          messageId: "a",
          listTools: { pageSizeHint: 9, meta: { traceId: "00-1", correlationId: "c", extra: { tracestate: "s" } } },
        }),
      ),
    ).toStrictEqual({
      kind: "request",
      id: "a",
      method: "tools/list",
      params: { _meta: { traceparent: "00-1", "dev.anywire/correlation-id": "c", tracestate: "s", "dev.anywire/page-size": 9 } },
    });
    const item = mcpv1.encodePart(
      "a",
      "tools/list",
      { kind: "item", value: { name: "t", title: "new", inputSchema: {} }, paged: true },
      plain,
    );
    expect(heard("SessionResponse", item)).toEqual({ inReplyTo: "a", listTools: { tool: { name: "t", inputSchema: {} } } });
    const end = mcpv1.encodeToClient({ jsonrpc: "2.0", id: "a", result: { ttlMs: 5 } }, "tools/list", plain);
    expect(heard("SessionResponse", end)).toEqual({ inReplyTo: "a", streamEnd: { requestId: "a" } });
    const error = { code: -32603, message: "m", data: { why: [1] } };
    const failed = (method: string): JsonValue =>
      heard("SessionResponse", mcpv1.encodeToClient({ jsonrpc: "2.0", id: "a", error }, method, plain));
    const data = { "@type": "type.googleapis.com/google.protobuf.Value", value: { why: [1] } };
    expect(failed("tools/list")).toEqual({ inReplyTo: "a", streamError: { ...error, data } });
    expect(failed("tools/call")).toEqual({ inReplyTo: "a", error: { ...error, data } });
  });

  it("answers lists, reads, progress, errors of either kind", () => {
    const read = (value: JsonValue, method: string): unknown => mcpv1.decodeToClient(said("SessionResponse", value), () => method);
    expect(read({ messageId: "m1", inReplyTo: "a", listPrompts: { prompt: { name: "p" } } }, "prompts/list")).toStrictEqual({
      kind: "part",
      id: "a",
      part: { kind: "item", value: { name: "p" } },
    });
    expect(read({ inReplyTo: "a", streamEnd: { requestId: "a" } }, "prompts/list")).toStrictEqual({ kind: "result", id: "a", value: {} });
    expect(read({ inReplyTo: "a", progress: { progress: 1, total: 2 } }, "tools/call")).toStrictEqual({
      kind: "notification",
      method: "notifications/progress",
      params: { progress: 1, total: 2, progressToken: "a" },
    });
    const data = { "@type": "type.googleapis.com/google.protobuf.Struct", value: { a: 1 } };
    for (const kind of ["error", "streamError"]) {
      expect(read({ inReplyTo: "a", [kind]: { code: 5, message: "m", data } }, "tools/call")).toStrictEqual({
        kind: "error",
        id: "a",
        error: { code: 5, message: "m", data: { a: 1 } },
      });
    }
  });

  it("gives back the text of a number, which still finds its call", () => {
    const frame = said("SessionResponse", { inReplyTo: "7", ping: {} });
    expect(mcpv1.decodeToClient(frame, (id) => (id === 7 ? "ping" : undefined))).toStrictEqual({ kind: "result", id: 7, value: {} });
    expect(mcpv1.decodeToClient(frame, (id) => (id === "7" ? "ping" : undefined))).toStrictEqual({ kind: "result", id: "7", value: {} });
    expect(
      mcpv1.decodeToClient(said("SessionResponse", { inReplyTo: "07", ping: {} }), (id) => (id === 7 ? "ping" : undefined)),
    ).toMatchObject({ id: "07" });
  });

  it("hears whose progress it is, whatever the token", () => {
    const progress = (options: object): JsonValue =>
      heard(
        "SessionResponse",
        mcpv1.encodeToClient({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "t", progress: 1 } }, undefined, {
          ...plain,
          ...options,
        }),
      );
    expect(progress({ call: "7" })).toEqual({ inReplyTo: "7", progress: { progressToken: { stringToken: "t" }, progress: 1 } });
    expect(progress({})).toEqual({ progress: { progressToken: { stringToken: "t" }, progress: 1 } });
  });

  it("gives a value of any type", () => {
    const read = (data: Any): unknown =>
      mcpv1.decodeMessage("StreamError", toBinary(gen.StreamErrorSchema, create(gen.StreamErrorSchema, { data })))["data"];
    const packed = anyPack(StringValueSchema, create(StringValueSchema, { value: "s" }));
    expect(read(packed)).toBe("s");
    expect(read(anyPack(BoolValueSchema, create(BoolValueSchema, { value: true })))).toBe(true);
    expect(read(anyPack(Int64ValueSchema, create(Int64ValueSchema, { value: -7n })))).toBe(-7);
    expect(read(anyPack(DoubleValueSchema, create(DoubleValueSchema, { value: 0.5 })))).toBe(0.5);
    expect(read(anyPack(ListValueSchema, fromJson(ListValueSchema, [1, null])))).toEqual([1, null]);
    expect(read(anyPack(AnySchema, packed))).toBe("s");
    expect(read(create(AnySchema, { typeUrl: "example.com/a.B", value: Uint8Array.of(1, 2) }))).toEqual({
      "@type": "example.com/a.B",
      value: "AQI=",
    });
    expect(read(create(AnySchema))).toBe(null);
  });

  it("is understood when it cancels, and needs no more", () => {
    expect(mcpv1.decodeToServer(said("SessionRequest", { messageId: "9", cancel: { requestId: "7" } }))).toStrictEqual({
      kind: "notification",
      method: "notifications/cancelled",
      params: { requestId: "7" },
    });
    const cancel: OutgoingMessage = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7, reason: "late" } };
    expect(heard("SessionRequest", mcpv1.encodeToServer(cancel, plain))).toEqual({ cancel: { requestId: "7" } });
  });

  it("reads what it knows of a message whose rest it does not", () => {
    const request: OutgoingMessage = {
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { ...call, _meta: { progressToken: 7, "dev.anywire/window": 9 }, more: 1 },
    };
    expect(heard("SessionRequest", mcpv1.encodeToServer(request, plain))).toEqual({ messageId: "7", callTool: call });
  });
});

describe("a chunked read of a peer of the base", () => {
  const chunk = (value: JsonValue): Uint8Array => said("ReadResourceChunkedResponse", value);

  it("begins a content with its first chunk, and another with another", () => {
    const state = mcpv1.partState();
    const parts = [
      { uri: "u", mimeType: "m", blobChunk: "AAE=", totalSize: "4" },
      { uri: "u", mimeType: "m", blobChunk: "AgM=", offset: "2", totalSize: "4", isFinal: true },
      { uri: "v", textChunk: "text", isFinal: true },
    ].flatMap((value) => mcpv1.decodePartMessage("resources/read", chunk(value), state));
    expect(parts.map((part) => ("data" in part && typeof part.data !== "string" ? { ...part, data: [...part.data] } : part))).toStrictEqual(
      [
        { kind: "content", form: "blob", head: { uri: "u", mimeType: "m" }, size: 4 },
        { kind: "chunk", data: [0, 1] },
        { kind: "chunk", data: [2, 3] },
        { kind: "content", form: "text", head: { uri: "v" } },
        { kind: "chunk", data: "text" },
      ],
    );
  });

  it("and an empty one is one too", () => {
    expect(mcpv1.decodePartMessage("resources/read", chunk({ uri: "u", isFinal: true }), mcpv1.partState())).toStrictEqual([
      { kind: "content", form: "text", head: { uri: "u" } },
    ]);
  });

  it("finds whose each chunk is, where it starts, and the end", () => {
    const state = mcpv1.partState();
    const parts = [
      { kind: "content", form: "text", head: { uri: "u", mimeType: "m" }, offset: 3, size: 9 },
      { kind: "chunk", data: "äb" },
      { kind: "chunk", data: "c" },
    ] as const;
    const messages = parts.map((part) =>
      heard("ReadResourceChunkedResponse", mcpv1.encodePartMessage("resources/read", part, plain, state)),
    );
    const last = mcpv1.encodeRest("resources/read", { ttlMs: 1 }, plain, state);
    const place = { uri: "u", mimeType: "m", totalSize: "9" };
    expect([...messages, heard("ReadResourceChunkedResponse", last as Uint8Array)]).toEqual([
      { ...place, offset: "3" },
      { ...place, offset: "3", textChunk: "äb" },
      { ...place, offset: "6", textChunk: "c" },
      { ...place, offset: "7", isFinal: true },
    ]);
  });
});
