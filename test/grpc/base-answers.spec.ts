import * as grpc from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { Fault, type Service, serve } from "../../src/api/index.js";
import * as gen from "../../src/codec/gen/mcp/v1/mcp_pb.js";
import { guard, type JsonObject, type Reply } from "../../src/core/index.js";
import { type BaseClient, baseClient, type Message } from "./base.js";
import { Peer } from "./peers.js";

/** A service that answers every request with the same replies. */
function answering(result: JsonObject | Fault, ...before: readonly Reply[]): Service {
  return {
    call: (_request, context) =>
      guard(async function* () {
        yield* before;
        if (result instanceof Fault) throw result;
        return result;
      }, context),
    notify: () => Promise.resolve(),
  };
}

async function opened(service: Service): Promise<{ client: BaseClient; address: string } & AsyncDisposable> {
  const listener = await serve(service, "grpc://127.0.0.1:0");
  const client = baseClient(listener.address);
  return {
    client,
    address: listener.address,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await listener.close();
    },
  };
}

/** What a base client reads on each way that leads to the method; an error as its code and text. */
async function readings(service: Service, method: "tools/call" | "resources/read" | "prompts/get"): Promise<Message[]> {
  await using at = await opened(service);
  const { client } = at;
  const failed = (error: Message): Message => ({ failed: `${error.code}: ${error.details}` });
  const onSession = async (request: object, payload: string): Promise<Message> => {
    const call = client.duplex("Session");
    call.write({ message_id: "1", ...request });
    call.end();
    for await (const message of call) {
      if (message.payload === payload) return message[payload];
      if (message.payload === "error" || message.payload === "stream_error") return { failed: `13: ${message[message.payload].message}` };
    }
    throw new Error("no answer");
  };
  if (method === "prompts/get")
    return [await client.unary("GetPrompt", { name: "p" }).catch(failed), await onSession({ get_prompt: { name: "p" } }, "get_prompt")];
  if (method === "resources/read")
    return [
      await client.unary("ReadResource", { uri: "u" }).catch(failed),
      await onSession({ read_resource: { uri: "u" } }, "read_resource"),
    ];
  const [update] = await client.stream("CallToolWithProgress", { name: "t" });
  const calls = client.duplex("StreamToolCalls");
  calls.write({ request_id: "1", name: "t" });
  calls.end();
  const [reply] = await calls.toArray();
  return [
    await client.unary("CallTool", { name: "t" }).catch(failed),
    update.result ?? { failed: `13: ${update.error.message}` },
    reply.success ?? { failed: `13: ${reply.error.message}` },
    await onSession({ call_tool: { name: "t" } }, "call_tool"),
  ];
}

const lone = "a\ud800b";
const link = { type: "resource_link", uri: "test://x", name: "x" };

describe("an answer to a client of the base", () => {
  it("has a text in place of content that the base does not know", async () => {
    const content = [link, { type: "vendor/shape", points: [1] }, { type: "text", text: "plain" }];
    for (const result of await readings(answering({ content }), "tools/call")) {
      const [first, second, third] = result.content.map(({ text }: Message) => text?.text);
      expect(first).toBe(`[content of type resource_link, which this client's protocol does not have] ${JSON.stringify(link)}`);
      expect(second).toContain('"points":[1]');
      expect(third).toBe("plain");
    }
    const messages = [{ role: "user", content: link }];
    for (const result of await readings(answering({ messages }), "prompts/get")) {
      expect(result.messages[0].content.text.text).toContain("test://x");
    }
  });

  it("has a text in place of structured content without any other", async () => {
    for (const result of await readings(answering({ content: [], structuredContent: { a: [1] } }), "tools/call"))
      expect(result.content.map(({ text }: Message) => text.text)).toEqual(['{"a":[1]}']);
  });

  it("has the bytes of base64 that is not padded or has another alphabet", async () => {
    for (const [blob, bytes] of [
      ["AAE", [0, 1]],
      ["-_-_", [0xfb, 0xff, 0xbf]],
      ["-_8", [0xfb, 0xff]],
      ["AAEC", [0, 1, 2]],
    ] as const) {
      for (const result of await readings(answering({ contents: [{ uri: "u", blob }] }), "resources/read"))
        expect([...result.contents[0].blob], blob).toEqual(bytes);
    }
  });

  it.each([
    ["tools/call", "result.content[0].text", { content: [{ type: "text", text: lone }] }],
    ["tools/call", "result.content[0].resource.uri", { content: [{ type: "resource", resource: { uri: lone, text: "" } }] }],
    ["tools/call", "result.resultType", { content: [], resultType: "task", task: { taskId: "1" } }],
    ["tools/call", "result.task", { content: [], task: { taskId: "1" } }],
    ["tools/call", "result.content[0]", { content: ["text"] }],
    ["tools/call", "result.isError", { content: [], isError: "no" }],
    ["resources/read", "result.contents[0].blob", { contents: [{ uri: "u", blob: "no base64!" }] }],
    [
      "resources/read",
      "result.contents[1].text",
      {
        contents: [
          { uri: "u", text: "" },
          { uri: "v", text: lone },
        ],
      },
    ],
    ["prompts/get", "result.messages[0].role", { messages: [{ role: "system", content: { type: "text", text: "" } }] }],
  ] as const)("of %s is an error if %s cannot be told", async (method, path, result) => {
    for (const reading of await readings(answering(result), method)) {
      expect(reading.failed).toMatch(/^13: the client's gRPC messages cannot carry /);
      expect(reading.failed).toContain(`${path.replace(/^result\./, "")}:`);
    }
  });

  it("in items is an error that names the item, and pages leave no empty ones", async () => {
    const item = (value: JsonObject): Reply => ({ kind: "item", value });
    await using bad = await opened(answering({}, item({ name: "fine" }), item({ name: "t", inputSchema: { title: lone } })));
    await expect(bad.client.stream("ListTools", {})).rejects.toMatchObject({
      details: expect.stringContaining('result.tools["t"].inputSchema.title:'),
    });
    const page: Reply = { kind: "page", cursor: "c", rest: { ttlMs: 1 }, own: true };
    await using good = await opened(answering({ ttlMs: 5 }, item({ name: "a" }), page, item({ name: "b" })));
    expect((await good.client.stream("ListTools", {})).map(({ tool }) => tool?.name)).toEqual(["a", "b"]);
    const call = good.client.duplex("Session");
    call.write({ message_id: "1", list_tools: {} });
    call.end();
    const replies: Message[] = await call.toArray();
    expect(replies.map(({ payload, list_tools }) => list_tools?.tool?.name ?? payload)).toEqual(["a", "b", "stream_end"]);
  });

  it("in chunks is an error if a text cannot be told", async () => {
    const head: Reply = { kind: "content", form: "text", head: { uri: "u" } };
    await using at = await opened(answering({}, head, { kind: "chunk", data: "good" }, { kind: "chunk", data: lone }));
    await expect(at.client.stream("ReadResourceChunked", { uri: "u" })).rejects.toMatchObject({
      details: expect.stringContaining("result.contents[].text:"),
    });
  });

  it("that is an error stays one, whatever its code, message and data", async () => {
    const fault = new Fault("application", lone, { rpcCode: 5_000_000_000, data: { why: lone } });
    await using at = await opened(answering(fault));
    const said = String.raw`a\ud800b [code 5000000000, data {"why":"a\ud800b"}]`;
    const [{ error }] = await at.client.stream("CallToolWithProgress", { name: "t" });
    expect(error).toMatchObject({ code: -32603, message: said, data: null });
    const call = at.client.duplex("Session");
    call.write({ message_id: "1", call_tool: { name: "t" } });
    call.end();
    const [reply] = await call.toArray();
    expect(reply.error).toMatchObject({ code: -32603, message: said, data: null });
    const failed = await at.client.unary("CallTool", { name: "t" }).catch((thrown) => thrown);
    expect(failed.metadata.get("mcp-error-code")).toEqual(["5000000000"]);
    expect(failed.details).toBe(String.raw`a\ud800b`);
    expect(JSON.parse(String(failed.metadata.get("mcp-error-data-bin")[0]))).toEqual({ why: lone });
  });
});

describe("a client that says it knows the added fields", () => {
  it("gets what it can read as it is", async () => {
    await using at = await opened(answering({ content: [link] }));
    using peer = new Peer(at.address);
    const metadata = new grpc.Metadata();
    metadata.set("anywire-fields", "1");
    const call = (given?: grpc.Metadata): Promise<gen.CallToolResponse> =>
      peer.unary("/mcp.v1.McpService/CallTool", [gen.CallToolRequestSchema, gen.CallToolResponseSchema], { name: "t" }, given);
    expect((await call(metadata)).content[0]?.content).toMatchObject({ case: "resourceLink", value: { uri: "test://x", name: "x" } });
    expect((await call()).content[0]?.content.case).toBe("text");
  });
});
