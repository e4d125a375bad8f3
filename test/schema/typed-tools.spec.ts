import { create, createFileRegistry, type DescMessage, fromBinary, type MessageShape, toBinary, toJson } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorSetSchema,
  file_google_protobuf_descriptor,
  file_google_protobuf_struct,
} from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { connect, createServer, type McpClient, serve } from "../../src/api/index.js";
import { type JsonObject, type Layer, layered } from "../../src/core/index.js";
import { type ToolTyper, toolTyper, typedTools } from "../../src/schema/index.js";
import { sdkService } from "../../src/sdk/index.js";
import { anywire, everything, start } from "../cli/support.js";
import { baseClient, type Envelope } from "../proto/base-peer.js";

let count = 0;

/** A server of the official SDK, which knows nothing of protobuf, behind the layer. */
async function behind(
  options: { readonly typer?: ToolTyper; readonly called?: unknown[]; readonly more?: boolean } = {},
): Promise<McpClient> {
  const server = (): McpServer => {
    const made = new McpServer({ name: "plain", version: "1" });
    const inputSchema = {
      a: z.number().int(),
      b: z.number().int().min(1),
      ...(options.more === true ? { c: z.string().optional() } : undefined),
    };
    made.registerTool("add", { description: "Adds.", inputSchema, outputSchema: { sum: z.number() } }, ({ a, b }) => {
      options.called?.push([a, b]);
      return { content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } };
    });
    made.registerTool("say", { inputSchema: { text: z.string() } }, ({ text }) => ({ content: [{ type: "text", text }] }));
    made.registerTool("echo", { inputSchema: z.looseObject({}) }, (args) => ({ content: [{ type: "text", text: JSON.stringify(args) }] }));
    return made;
  };
  const service = sdkService(server);
  const listener = await serve(
    layered(service, typedTools(options.typer === undefined ? {} : { typer: options.typer })),
    `memory:typed-${++count}`,
  );
  const client = await connect(listener.address);
  onTestFinished(async () => {
    await client.close();
    await listener.close();
    await service[Symbol.asyncDispose]();
  });
  return client;
}

const schemas = { meta: { "buf.mcp.v1/include_schemas": true } };

/** The messages of a listed tool, as a program with protobuf-es alone reads them. */
async function messagesOf(client: McpClient, name: string): Promise<DescMessage[]> {
  const { tools } = await client.listTools({}, schemas);
  const tool = tools.find((each) => each.name === name) as unknown as { readonly _meta: JsonObject };
  const set = tool._meta["buf.mcp.v1/inline_schema"];
  const { file } = fromBinary(FileDescriptorSetSchema, Buffer.from(String(set), "base64"));
  return messagesIn(file[0] as FileDescriptorProto);
}

function messagesIn(file: FileDescriptorProto): DescMessage[] {
  const known = [file_google_protobuf_descriptor, file_google_protobuf_struct, file_buf_validate_validate];
  const registry = createFileRegistry(file, (path) => known.find((each) => `${each.name}.proto` === path));
  return [...registry].filter(
    (desc): desc is DescMessage => desc.kind === "message" && desc.parent === undefined && desc.file.proto.name === file.name,
  );
}

const packed = (message: DescMessage, init: object): JsonObject => ({
  "@type": `type.googleapis.com/${message.typeName}`,
  value: Buffer.from(toBinary(message, create(message, init as never))).toString("base64"),
});

describe("tools of a JSON-RPC server, to a client of proto-mcp", () => {
  it("have descriptors if they are asked for, take messages and give them", async () => {
    const called: unknown[] = [];
    const client = await behind({ called });
    const [input, output] = await messagesOf(client, "add");
    expect([input?.name, output?.name]).toEqual(["AddRequest", "AddResponse"]);
    const result = await client.callTool("add", packed(input as DescMessage, { a: 2n, b: 3n }));
    const [first, text] = result.content as unknown as [{ resource: { uri: string; mimeType: string; blob: string } }, JsonObject];
    expect([first.resource.uri, first.resource.mimeType]).toEqual([
      `proto:type.googleapis.com/${output?.typeName}`,
      "application/x-protobuf",
    ]);
    expect(toJson(output as DescMessage, fromBinary(output as DescMessage, Buffer.from(first.resource.blob, "base64")))).toEqual({
      sum: 5,
    });
    expect([text, result.structuredContent, called]).toEqual([{ type: "text", text: "5" }, undefined, [[2, 3]]]);
    const [say] = await messagesOf(client, "say");
    expect((await client.callTool("say", packed(say as DescMessage, { text: "hi" }))).content).toEqual([{ type: "text", text: "hi" }]);
  });

  it("are to everybody else what they were", async () => {
    const client = await behind();
    for (const { _meta } of (await client.listTools()).tools as readonly JsonObject[]) expect(_meta).toBeUndefined();
    const result = await client.callTool("add", { a: 1, b: 1 });
    expect([result.content, result.structuredContent]).toEqual([[{ type: "text", text: "2" }], { sum: 2 }]);
    // Arguments that only look like a message.
    const alike = { "@type": "acme.v1.Thing", value: "aGk=" };
    expect((await client.callTool("echo", alike)).content).toEqual([{ type: "text", text: JSON.stringify(alike) }]);
  });

  it("do not run with arguments that break their schema", async () => {
    const called: unknown[] = [];
    const client = await behind({ called });
    const [input] = await messagesOf(client, "add");
    const message = input as DescMessage;
    const error = { "buf.mcp.v1/error": { code: -33001, message: expect.stringContaining("invalid arguments") } };
    for (const args of [packed(message, { a: 1n }), packed(message, { a: 1n, b: 0n }), { ...packed(message, {}), value: "/w==" }])
      expect(await client.callTool("add", args)).toMatchObject({ isError: true, _meta: error });
    expect(called).toEqual([]);
  });

  it("are found by another process that has not listed them, and refused if they have changed since", async () => {
    const [input] = await messagesOf(await behind(), "add");
    const message = input as DescMessage;
    expect((await (await behind()).callTool("add", packed(message, { a: 1n, b: 2n }))).isError).not.toBe(true);
    const called: unknown[] = [];
    await expect((await behind({ called, more: true })).callTool("add", packed(message, { a: 1n, b: 2n }))).rejects.toMatchObject({
      rpcCode: -33000,
      message: expect.stringMatching(/takes a .*AddRequest, and not a .*: list the tools again/),
      data: { reason: "message" },
    });
    await expect((await behind()).callTool("gone", packed(message, { a: 1n, b: 2n }))).rejects.toThrow(/no tool "gone"/);
    // The message of one tool is none of another, also where both are known.
    const typer = toolTyper();
    const client = await behind({ typer, called });
    const [own] = await messagesOf(client, "add");
    await expect(client.callTool("say", packed(own as DescMessage, { a: 1n, b: 2n }))).rejects.toMatchObject({ rpcCode: -33000 });
    expect(called).toEqual([]);
  });
});

it("a tool that takes messages itself gets them as they are, and its server is asked for the list once", async () => {
  const server = createServer({ name: "native", version: "1" });
  const _meta = { "buf.mcp.v1/inline_schema": "CgA=" };
  server.tool("native", { input: { type: "object" }, _meta }, (args) => JSON.stringify(args));
  let lists = 0;
  const counting: Layer = (inner) => ({
    notify: (notification, context) => inner.notify(notification, context),
    call(request, context) {
      if (request.method === "tools/list") lists++;
      return inner.call(request, context);
    },
  });
  await using listener = await serve(layered(server, typedTools(), counting), `memory:typed-${++count}`);
  await using client = await connect(listener.address);
  const args = { "@type": "type.googleapis.com/acme.v1.Native", value: "CgA=" };
  for (let call = 0; call < 3; call++)
    expect((await client.callTool("native", args)).content).toEqual([{ type: "text", text: JSON.stringify(args) }]);
  expect(lists).toBe(1);
  expect((await client.listTools({}, schemas)).tools).toMatchObject([{ _meta }]);
});

it("a bridge shows a server of the official SDK to a client that knows the text of proto-mcp alone", async () => {
  const bridge = start(process.execPath, [anywire, "bridge", "--listen", "proto+tcp://127.0.0.1:0", ...everything]);
  let text = "";
  bridge.child.stderr.on("data", (chunk: string) => (text += chunk));
  bridge.child.stdout.on("data", (chunk: string) => (text += chunk));
  await bridge.shows(/proto\+tcp:\/\/127\.0\.0\.1:\d+/);
  const client = await baseClient(/proto\+tcp:\/\/[\d.:]+/.exec(text)?.[0] ?? "");
  onTestFinished(() => void client.socket.destroy());
  client.send(1n, "initializeRequest", { protocolVersion: "1.0.0", capabilities: { supportsBsrRefs: false, encodings: ["protobuf"] } });
  await client.next();
  client.send(2n, "listToolsRequest", { includeSchemas: true });
  const { tools } = ((await client.next()) as Envelope).payload.value as unknown as {
    tools: { name: string; schemaSource: { case: string; value: MessageShape<typeof FileDescriptorSetSchema> } }[];
  };
  expect(tools.map(({ schemaSource }) => schemaSource.case)).toEqual(tools.map(() => "inlineSchema"));
  const echo = tools.find(({ name }) => name === "echo")?.schemaSource.value;
  const [input] = messagesIn(echo?.file[0] as FileDescriptorProto);
  const { "@type": typeUrl, value } = packed(input as DescMessage, { message: "hello" });
  client.send(3n, "callToolRequest", { name: "echo", arguments: { typeUrl, value: Buffer.from(String(value), "base64") } });
  expect(await client.next()).toMatchObject({
    payload: { value: { result: { case: "success", value: { content: [{ content: { case: "text", value: "Echo: hello" } }] } } } },
  });
  client.send(4n, "callToolRequest", { name: "echo", arguments: { typeUrl, value: new Uint8Array() } });
  expect(await client.next()).toMatchObject({ payload: { value: { result: { case: "error", value: { code: -33001 } } } } });
});
