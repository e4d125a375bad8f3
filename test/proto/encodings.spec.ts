import { create, createRegistry, type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { connect, createServer, type JsonObject, serve } from "../../src/api/index.js";
import { convertTool } from "../../src/schema/index.js";
import "../../src/typed/index.js";
import { baseClient, envelope, framed, frames, initialize, message } from "./base-peer.js";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
});
const kept = <T extends AsyncDisposable>(each: T): T => {
  open.push(each);
  return each;
};

const { input, output } = convertTool(
  {
    name: "greet",
    inputSchema: { type: "object", properties: { given_name: { type: "string", minLength: 1 } }, required: ["given_name"] },
    outputSchema: { type: "object", properties: { greeting: { type: "string" } } },
  } as never,
  { package: "acme.v1" },
);
const messages = { input: input.message as DescMessage, output: output?.message as DescMessage };

function server(ran: unknown[] = []) {
  return createServer({ name: "json", version: "1.0.0" })
    .tool("greet", messages, (given) => {
      ran.push(given);
      return create(messages.output, { greeting: `hello ${(given as unknown as { givenName: string }).givenName}` } as never);
    })
    .tool("echo", {}, (args) => JSON.stringify(args));
}

const asJson = (id: bigint, name: string, value: object, registry = createRegistry()): Buffer =>
  Buffer.from(JSON.stringify(toJson(envelope, fromBinary(envelope, message(id, name, value)), { registry })));
/** What the base's own runtime reads in canonical JSON: nothing that it does not know. */
const read = (text: Uint8Array, registry = createRegistry()): JsonObject =>
  toJson(envelope, fromJson(envelope, JSON.parse(Buffer.from(text).toString()) as JsonValue, { registry }), { registry }) as JsonObject;
const offering = (...encodings: readonly string[]) => ({ ...initialize, capabilities: { encodings } });

describe("a client of the base that speaks JSON", () => {
  it("is answered in the first encoding that it offers, in canonical JSON", async () => {
    const client = await baseClient(kept(await serve(server(), "proto+tcp://127.0.0.1:0")).address);
    const texts = frames(client.socket, (bytes) => Buffer.from(bytes));
    const next = async (): Promise<Buffer> => (await texts.next()).value as Buffer;
    client.socket.write(framed(message(1n, "initializeRequest", offering("cbor", "json", "protobuf"))));
    expect(read(await next())).toMatchObject({ id: "1", initializeResponse: { metadata: { name: "json" } } });
    // What is written is one thing, what is read another: both are told by their first byte.
    client.socket.write(framed(message(2n, "listToolsRequest", {})));
    expect(read(await next())).toMatchObject({ id: "2", listToolsResponse: { tools: [{ name: "greet" }, { name: "echo" }] } });
    client.socket.write(framed(message(3n, "initializeRequest", offering("protobuf", "json"))));
    expect((await next())[0]).not.toBe(0x7b);
    client.socket.destroy();
  });

  it("gets the encoding of its own messages if it offers none that is known", async () => {
    const client = await baseClient(kept(await serve(server(), "any://127.0.0.1:0")).address);
    const texts = frames(client.socket, (bytes) => Buffer.from(bytes));
    client.socket.write(framed(asJson(1n, "initializeRequest", offering())));
    expect(read((await texts.next()).value as Buffer)).toMatchObject({ id: "1", initializeResponse: {} });
    client.socket.write(framed(asJson(2n, "initializeRequest", offering("cbor"))));
    expect(((await texts.next()).value as Buffer)[0]).toBe(0x7b);
    client.send(3n, "initializeRequest", offering("cbor"));
    expect(((await texts.next()).value as Buffer)[0]).not.toBe(0x7b);
    client.socket.destroy();
  });

  it("calls typed tools with the members of the message, or with its bytes", async () => {
    const ran: unknown[] = [];
    const client = await baseClient(kept(await serve(server(ran), "proto+tcp://127.0.0.1:0")).address);
    const texts = frames(client.socket, (bytes) => Buffer.from(bytes));
    const ask = async (text: Buffer): Promise<JsonObject> => {
      client.socket.write(framed(text));
      return JSON.parse(String((await texts.next()).value)) as JsonObject;
    };
    await ask(asJson(1n, "initializeRequest", offering("json")));
    const value = toBinary(messages.input, create(messages.input, { givenName: "Ada" } as never));
    const args = { typeUrl: `type.googleapis.com/${messages.input.typeName}`, value };
    const canonical = asJson(2n, "callToolRequest", { name: "greet", arguments: args }, createRegistry(messages.input));
    expect(String(canonical)).toContain('"givenName":"Ada"'.replace("givenName", messages.input.fields[0]?.jsonName as string));
    expect(await ask(canonical)).toMatchObject({ callToolResponse: { success: { content: [{ text: '{"greeting":"hello Ada"}' }] } } });
    const packed = { "@type": args.typeUrl, value: Buffer.from(value).toString("base64") };
    const said = await ask(Buffer.from(JSON.stringify({ id: 3, callToolRequest: { name: "greet", arguments: packed } })));
    const { data } = (said as { callToolResponse: { success: { content: [{ data: { "@type": string; value: string } }] } } })
      .callToolResponse.success.content[0];
    expect(data["@type"]).toBe(`type.googleapis.com/${messages.output.typeName}`);
    expect(fromBinary(messages.output, Buffer.from(data.value, "base64"))).toMatchObject({ greeting: "hello Ada" });
    expect(ran).toHaveLength(2);
    // Names as in the .proto, an integer as a number: JSON of protobuf may be both.
    const struct = { "@type": "type.googleapis.com/google.protobuf.Struct", value: { "@type": "mine", n: 1 } };
    expect(await ask(Buffer.from(JSON.stringify({ id: 4, call_tool_request: { name: "echo", arguments: struct } })))).toMatchObject({
      id: "4",
      callToolResponse: { success: { content: [{ text: '{"@type":"mine","n":1}' }] } },
    });
    client.socket.destroy();
  });

  it("is told what is wrong with its messages, and goes on", async () => {
    const ran: unknown[] = [];
    const client = await baseClient(kept(await serve(server(ran), "proto+tcp://127.0.0.1:0")).address);
    const texts = frames(client.socket, (bytes) => Buffer.from(bytes));
    const ask = async (text: string): Promise<JsonObject> => {
      client.socket.write(framed(Buffer.from(text)));
      return JSON.parse(String((await texts.next()).value)) as JsonObject;
    };
    await ask(String(asJson(1n, "initializeRequest", offering("json"))));
    const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
    for (const bad of [
      "{",
      '{"id":"x"}',
      `{"id":2,"callToolRequest":{"name":"echo","arguments":{"@type":"type.googleapis.com/google.protobuf.Struct","value":${deep}}}}`,
      '{"id":2,"callToolRequest":{"name":"greet","arguments":{"@type":"type.googleapis.com/acme.X","value":"?"}}}',
    ])
      expect(await ask(bad), bad.slice(0, 60)).toMatchObject({ errorResponse: { code: -32700 } });
    // What can be read tells whose answer it is.
    for (const bad of [
      '{"id":2,"callToolRequest":7}',
      '{"id":"2","listToolsRequest":{"includeSchemas":"yes"}}',
      '{"id":2,"callToolRequest":{"metadata":{"a":1}}}',
    ])
      expect(await ask(bad), bad).toMatchObject({ id: "2", errorResponse: { code: -32700 } });
    expect(await ask('{"id":2,"callToolRequest":{"name":"greet","arguments":{"@type":"t/acme.X","other":1}}}')).toMatchObject({
      id: "2",
      callToolResponse: { error: { code: -33001 } },
    });
    expect(ran).toEqual([]);
    expect(await ask('{"id":3,"listToolsRequest":{},"newer":1}')).toMatchObject({ id: "3", listToolsResponse: {} });
    client.socket.destroy();
  });

  it("is served in binary frames of WebSocket", async () => {
    const listener = kept(await serve(server(), "proto+ws://127.0.0.1:0"));
    const socket = new WebSocket(listener.address.slice("proto+".length));
    await new Promise((resolve) => socket.once("open", resolve));
    const answer = new Promise<Buffer>((resolve) => socket.once("message", (data) => resolve(data as Buffer)));
    socket.send(asJson(1n, "initializeRequest", offering("json")));
    expect(read(await answer)).toMatchObject({ id: "1", initializeResponse: { metadata: { name: "json" } } });
    socket.terminate();
  });
});

describe("a client of ours that offers JSON first", () => {
  for (const address of ["proto+tcp://127.0.0.1:0", "proto+ws://127.0.0.1:0"])
    for (const era of ["legacy", "modern"] as const)
      for (const encodings of [["json"], ["json", "protobuf"]] as const)
        it(`speaks it with a server of ours at ${address}, ${era}, offering ${encodings.join(" and ")}`, async () => {
          const listener = kept(await serve(server(), address));
          const client = kept(await connect(listener.address, { era, encodings, jsonToo: false }));
          const args = { a: [1, 2.5, null, { b: "\u00fc" }], big: 12345678901 };
          expect((await client.callTool("echo", args)).content).toEqual([{ type: "text", text: JSON.stringify(args) }]);
          expect(await client.callTyped("greet", messages, { givenName: "Ada" } as never)).toMatchObject({ greeting: "hello Ada" });
          const names = [];
          for await (const { name } of client.tools()) names.push(name);
          expect(names).toEqual(["greet", "echo"]);
        });
});
