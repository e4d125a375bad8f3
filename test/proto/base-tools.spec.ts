import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, StructSchema } from "@bufbuild/protobuf/wkt";
import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../src/api/index.js";
import { bridge } from "../../src/bridge/index.js";
import { readDescriptorSet } from "../../src/schema/index.js";
import { registryFolder, searchTool, setOf, standIn, storeAt } from "../schema/registries.js";
import { baseServer, type Payload } from "./base-peer.js";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
});
const kept = <T extends AsyncDisposable>(each: T): T => {
  open.push(each);
  return each;
};

const set = setOf(searchTool);
const WebSearchRequest = readDescriptorSet(set).get("acme.tools.v1.WebSearchRequest") as DescMessage;
const WebSearchResponse = readDescriptorSet(set).get("acme.tools.v1.WebSearchResponse") as DescMessage;
const REFERENCE = "buf.build/acme/tools/acme.tools.v1.WebSearchRequest:v1";
const WRONG = "buf.build/acme/tools/acme.tools.v1.Nothing:v1";

interface ArgumentsAny {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** A server of proto-mcp 1.0 with a tool of messages, whose schema it sends along only if it is asked to, and tools without. */
async function searching() {
  const asked: unknown[] = [];
  const { server, address } = await baseServer(({ payload: { case: name, value } }): Payload => {
    if (name === "initializeRequest")
      return { case: "initializeResponse", value: { protocolVersion: "1.0.0", capabilities: { tools: {} } } };
    if (name === "listToolsRequest") {
      asked.push(["list", value["includeSchemas"]]);
      if (value["cursor"] === "")
        return { case: "listToolsResponse", value: { tools: [{ name: "plain", metadata: { k: "v" } }], nextCursor: "2" } };
      const inline = { case: "inlineSchema", value: fromBinary(FileDescriptorSetSchema, set) };
      const schemaSource = value["includeSchemas"] === true ? inline : { case: "bsrRef", value: REFERENCE };
      const odd = { name: "odd", schemaSource: { case: "bsrRef", value: WRONG } };
      return { case: "listToolsResponse", value: { tools: [{ name: "web_search", schemaSource }, odd] } };
    }
    const { typeUrl, value: bytes } = (value["arguments"] ?? { typeUrl: "", value: new Uint8Array() }) as ArgumentsAny;
    if (value["name"] !== "web_search") {
      asked.push(["call", typeUrl, fromBinary(StructSchema, bytes).fields["x"]?.kind.value]);
      return { case: "callToolResponse", value: { result: { case: "success", value: {} } } };
    }
    if (!typeUrl.endsWith(`/${WebSearchRequest.typeName}`))
      return { case: "errorResponse", value: { code: -33001, message: `no ${typeUrl}` } };
    const { query } = fromBinary(WebSearchRequest, bytes) as unknown as { query: string };
    asked.push(["call", typeUrl, query]);
    const found = toBinary(WebSearchResponse, create(WebSearchResponse, { pages: [`about ${query}`] } as never));
    const data = { typeUrl: `type.googleapis.com/${WebSearchResponse.typeName}`, value: found };
    const content = [{ content: { case: "text", value: "found" } }, { content: { case: "data", value: data } }];
    return { case: "callToolResponse", value: { result: { case: "success", value: { content } } } };
  });
  return { asked, address, close: () => server.close() };
}

const inputSchema = {
  type: "object",
  properties: { query: { type: "string", description: "What to look for." } },
  required: ["query"],
};

describe("a server of the base with messages", () => {
  it("is one of JSON to a client behind a bridge: a schema, arguments and structured content", async () => {
    const { asked, address, close } = await searching();
    const made = await bridge({ listen: ["http://127.0.0.1:0/mcp"], to: address });
    const client = kept(await connect(made.listeners[0]?.address as string));
    // Before any list: what the tool takes is found out.
    expect(await client.callTool("web_search", { query: "cats" })).toMatchObject({
      content: [
        { type: "text", text: "found" },
        { type: "text", text: '{"pages":["about cats"]}' },
      ],
      structuredContent: { pages: ["about cats"] },
    });
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([{ name: "plain", inputSchema: { type: "object" } }, { name: "web_search", inputSchema }, { name: "odd" }]);
    expect(JSON.stringify(tools)).not.toContain("inline_schema");
    expect(await client.callTool("plain", { x: "1" })).toMatchObject({ content: [] });
    const calls = asked.filter((each) => (each as string[])[0] === "call");
    expect(calls).toEqual([
      ["call", `type.googleapis.com/${WebSearchRequest.typeName}`, "cats"],
      ["call", "type.googleapis.com/google.protobuf.Struct", "1"],
    ]);
    expect(await client.callTool("web_search", { query: 5 })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("arguments.query") }],
      _meta: { "buf.mcp.v1/error": { code: -33001 } },
    });
    expect(asked.filter((each) => (each as string[])[0] === "call")).toHaveLength(2);
    await made.close();
    close();
  });

  it("answers the second caller when the first leaves at once", async () => {
    const { address, close } = await searching();
    const client = kept(await connect(address));
    const leave = new AbortController();
    const first = client.callTool("web_search", { query: "cats" }, { signal: leave.signal });
    const second = client.callTool("web_search", { query: "dogs" });
    leave.abort();
    await expect(first).rejects.toMatchObject({ code: "cancelled" });
    expect(await second).toMatchObject({ structuredContent: { pages: ["about dogs"] } });
    close();
  });

  it("is shown with the descriptors to a client that asks for them, and takes its messages as they are", async () => {
    const { asked, address, close } = await searching();
    const client = kept(await connect(address));
    const { tools } = await client.listTools({}, { meta: { "buf.mcp.v1/include_schemas": true } });
    expect(tools[1]?._meta).toEqual({ "buf.mcp.v1/inline_schema": expect.any(String) });
    const packed = {
      "@type": `buf.build/acme/tools/${WebSearchRequest.typeName}`,
      value: Buffer.from(toBinary(WebSearchRequest, create(WebSearchRequest, { query: "dogs" } as never))).toString("base64"),
    };
    expect((await client.callTool("web_search", packed)).content).toMatchObject([{ text: "found" }, { type: "resource" }]);
    expect(asked.at(-1)).toEqual(["call", packed["@type"], "dogs"]);
    close();
  });

  it("names its schema by a reference, which a store looks up", async () => {
    const { asked, address, close } = await searching();
    const schemas = storeAt(await standIn(registryFolder({ "acme/tools/v1.binpb": set })));
    const client = kept(await connect(address, { schemas }));
    expect((await client.listTools()).tools).toMatchObject([
      { name: "plain" },
      { name: "web_search", inputSchema, _meta: { "buf.mcp.v1/bsr_ref": REFERENCE } },
      // Where nothing is found, the tool is there as it was.
      { name: "odd", inputSchema: { type: "object" } },
    ]);
    expect(asked).toEqual([
      ["list", false],
      ["list", false],
    ]);
    expect(await client.callTool("web_search", { query: "cats" })).toMatchObject({ structuredContent: { pages: ["about cats"] } });
    close();
  });
});
