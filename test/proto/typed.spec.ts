import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { create, type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { afterEach, describe, expect, it } from "vitest";
import { connect, createServer, type JsonObject, progress, serve } from "../../src/api/index.js";
import { bridge } from "../../src/bridge/index.js";
import { convertTool, readDescriptorSet } from "../../src/schema/index.js";
import "../../src/typed/index.js";
import { baseClient, initialize } from "./base-peer.js";

/** Messages with rules, as generated code would have them. */
const { input, output } = convertTool(
  {
    name: "greet",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1 },
        times: { type: "integer", minimum: 1, maximum: 5 },
        tags: { type: "array", items: { type: "string", minLength: 2 } },
      },
      required: ["name"],
    },
    outputSchema: { type: "object", properties: { greeting: { type: "string" }, letters: { type: "integer" } } },
  } as never,
  { package: "acme.v1" },
);
const GreetRequest = input.message as DescMessage;
const GreetResponse = output?.message as DescMessage;
const messages = { input: GreetRequest, output: GreetResponse };

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
});
const kept = <T extends AsyncDisposable>(each: T): T => {
  open.push(each);
  return each;
};

function greeter(ran: unknown[] = []) {
  return createServer({ name: "greeter", version: "1.0.0" })
    .tool("greet", { ...messages, description: "greets", bsrRef: "buf.build/acme/tools/acme.v1.GreetRequest:v1" }, (message) => {
      const { name, times } = message as Message & { name?: string; times?: number };
      ran.push({ name, times });
      const greeting = Array.from({ length: times ?? 1 }, () => `hello ${name}`).join(", ");
      return create(GreetResponse, { greeting, letters: BigInt(greeting.length) } as never);
    })
    .tool("slowly", messages, async function* () {
      yield progress(1, 2);
      return create(GreetResponse, { greeting: "done" } as never);
    })
    .tool("unchecked", { ...messages, validate: false }, () => create(GreetResponse, { greeting: "whatever" } as never))
    .tool("plain", { description: "no messages" }, () => "as ever");
}

const addresses = [
  "proto+tcp://127.0.0.1:0",
  "proto+ws://127.0.0.1:0",
  "proto+grpc://127.0.0.1:0",
  "http://127.0.0.1:0/mcp",
  "tcp://127.0.0.1:0",
];

describe("a tool of messages", () => {
  for (const address of addresses) {
    it(`is called with messages and with JSON at ${address}`, async () => {
      const ran: unknown[] = [];
      const listener = kept(await serve(greeter(ran), address));
      const client = kept(await connect(listener.address));
      const answer = await client.callTyped("greet", messages, { name: "Ada", times: 2 } as never);
      expect(answer).toMatchObject({ $typeName: GreetResponse.typeName, greeting: "hello Ada, hello Ada" });
      expect(await client.callTool("greet", { name: "Bob" })).toMatchObject({
        structuredContent: { greeting: "hello Bob", letters: 9 },
        content: [{ type: "text", text: '{"greeting":"hello Bob","letters":9}' }],
      });
      expect(await client.callTyped("slowly", messages, { name: "x" } as never)).toMatchObject({ greeting: "done" });
      expect(await client.callTool("plain")).toMatchObject({ content: [{ text: "as ever" }] });
      expect(ran).toEqual(
        [
          { name: "Ada", times: 2 },
          { name: "Bob", times: undefined },
        ].map(({ name, times }) => expect.objectContaining({ name, ...(times === undefined ? undefined : { times }) })),
      );
    });
  }

  it("runs nothing for arguments that break a rule, and names field and rule", async () => {
    const ran: unknown[] = [];
    const listener = kept(await serve(greeter(ran), "proto+tcp://127.0.0.1:0"));
    const client = kept(await connect(listener.address));
    const broken = { code: "invalid-params", rpcCode: -33001, data: { field: "times", rule: "int32.gte_lte" } };
    await expect(client.callTyped("greet", messages, { name: "Ada", times: 9 } as never)).rejects.toMatchObject(broken);
    const inList = { rpcCode: -33001, data: { field: "tags[1]", rule: "string.min_len" } };
    const tags = { name: "Ada", tags: ["ok", "x"] } as never;
    await expect(client.callTyped("greet", messages, tags)).rejects.toMatchObject(inList);
    await expect(client.callTyped("greet", messages, tags, { validate: false })).rejects.toMatchObject(inList);
    // What only TypeScript prevents.
    await expect(client.callTyped("greet", messages, { name: 5 } as never)).rejects.toMatchObject({
      code: "invalid-params",
      rpcCode: -33001,
      message: expect.stringMatching(/^name: .*expected string, got 5/),
    });
    expect(await client.callTyped("unchecked", messages, { name: "Ada", times: 9 } as never, { validate: false })).toMatchObject({
      greeting: "whatever",
    });
    // The server looks again: this client did not.
    await expect(client.callTyped("greet", messages, { name: "Ada", times: 9 } as never, { validate: false })).rejects.toMatchObject(
      broken,
    );
    expect(await client.callTool("greet", { name: "" })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("name") }],
    });
    expect(await client.callTool("greet", { name: 5 })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("arguments.name") }],
    });
    for (const [type, value] of [
      ["type.googleapis.com/acme.Other", "CgF4"],
      [`type.googleapis.com/${GreetRequest.typeName}`, "/w=="],
    ] as const)
      expect(await client.callTool("greet", { "@type": type, value })).toMatchObject({
        isError: true,
        _meta: { "buf.mcp.v1/error": { code: -33001 } },
      });
    expect(ran).toEqual([]);
  });

  it("is an error of the call to a client of the base, with the code of the text", async () => {
    const ran: unknown[] = [];
    const client = await baseClient(kept(await serve(greeter(ran), "proto+tcp://127.0.0.1:0")).address);
    client.send(1n, "initializeRequest", initialize);
    await client.next();
    client.send(2n, "callToolRequest", {
      name: "greet",
      arguments: { typeUrl: "type.googleapis.com/acme.Other", value: new Uint8Array(0) },
    });
    expect(await client.next()).toMatchObject({
      payload: { case: "callToolResponse", value: { result: { case: "error", value: { code: -33001 } } } },
    });
    const args = { typeUrl: `buf.build/acme/tools/${GreetRequest.typeName}`, value: Uint8Array.of(0x0a, 1, 0x78) };
    client.send(3n, "callToolRequest", { name: "greet", arguments: args });
    const answer = (await client.next()) as never as {
      payload: { value: { result: { value: { content: [{ content: { value: { typeUrl: string; value: Uint8Array } } }] } } } };
    };
    const { typeUrl, value } = answer.payload.value.result.value.content[0].content.value;
    expect(typeUrl).toBe(`type.googleapis.com/${GreetResponse.typeName}`);
    expect(fromBinary(GreetResponse, value)).toMatchObject({ greeting: "hello x" });
    expect(ran).toHaveLength(1);
    client.socket.destroy();
  });

  it("shows its schema to those who ask, and is found by its reference", async () => {
    const client = await baseClient(kept(await serve(greeter(), "proto+tcp://127.0.0.1:0")).address);
    client.send(1n, "initializeRequest", initialize);
    await client.next();
    client.send(2n, "listToolsRequest", { bsrRefs: ["buf.build/acme/tools/acme.v1.GreetRequest:v1"] });
    expect(await client.next()).toMatchObject({
      payload: {
        value: { tools: [{ name: "greet", schemaSource: { case: "bsrRef", value: "buf.build/acme/tools/acme.v1.GreetRequest:v1" } }] },
      },
    });
    client.send(3n, "listToolsRequest", { includeSchemas: true });
    const { tools } = (await client.next().then((answer) => answer?.payload.value)) as {
      tools: { name: string; schemaSource: { case: string } }[];
    };
    expect(tools.map(({ name, schemaSource }) => `${name} ${schemaSource.case}`)).toEqual([
      "greet inlineSchema",
      "slowly inlineSchema",
      "unchecked inlineSchema",
      "plain undefined",
    ]);
    const json = kept(await connect(kept(await serve(greeter(), "tcp://127.0.0.1:0")).address));
    const { tools: listed } = await json.listTools({}, { meta: { "buf.mcp.v1/include_schemas": true } });
    const inline = String((listed[0]?._meta as JsonObject | undefined)?.["buf.mcp.v1/inline_schema"]);
    const set = readDescriptorSet(Buffer.from(inline, "base64"));
    expect(set.get(GreetRequest.typeName)?.fields.map(({ name }) => name)).toEqual(expect.arrayContaining(["name", "times"]));
    expect(inline.length).toBeLessThan(2000);
    client.socket.destroy();
  });

  it("stays what it is behind bridges, which neither convert nor validate", async () => {
    const ran: unknown[] = [];
    const server = kept(await serve(greeter(ran), "proto+tcp://127.0.0.1:0"));
    const made = await bridge({ listen: ["http://127.0.0.1:0/mcp"], to: server.address });
    const again = await bridge({ listen: ["proto+grpc://127.0.0.1:0"], to: made.listeners[0]?.address as string });
    const client = kept(await connect(again.listeners[0]?.address as string));
    expect(await client.callTyped("greet", messages, { name: "Ada" } as never)).toMatchObject({ greeting: "hello Ada" });
    await expect(client.callTyped("greet", messages, { name: "" } as never, { validate: false })).rejects.toMatchObject({
      rpcCode: -33001,
    });
    expect(ran).toHaveLength(1);
    await client.close();
    await again.close();
    await made.close();
  });
});

describe("messages without their module", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));

  it("are refused with what to do, by servers and clients", async () => {
    const script = `import { connect, createServer, serve } from "./dist/api/index.js";
      const server = createServer({ name: "a", version: "1" });
      const schema = { kind: "message", typeName: "acme.X" };
      const told = [];
      try { server.tool("x", { input: schema }, () => "x"); } catch (error) { told.push(error.message); }
      const listener = await serve(server.tool("y", () => "y"), "memory:none");
      const client = await connect("memory:none");
      await client.callTyped("y", { input: schema, output: schema }, {}).catch((error) => told.push(error.message));
      await client.close();
      await listener.close();
      console.log(JSON.stringify(told));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { cwd: root });
    const why = 'messages of protobuf need their module: add import "anywire/typed"';
    expect(JSON.parse(stdout)).toEqual([why, why]);
  });

  it("are nothing that the core loads", async () => {
    for (const file of await readdir(`${root}dist/core`, { recursive: true }))
      if (file.endsWith(".js")) expect(await readFile(`${root}dist/core/${file}`, "utf8"), file).not.toMatch(/from "@bufbuild/);
  });
});
