import { describe, expect, it } from "vitest";
import { type Connection, serve, wireFor } from "../../src/api/index.js";
import { contextOf, faultOf, outcome } from "../calls.js";
import { type BaseServer, baseClient, baseServer } from "./base.js";

const legacy = { client: { era: "legacy", protocolVersion: "2025-11-25" } } as const;

async function opened(): Promise<{ server: BaseServer; link: Connection } & AsyncDisposable> {
  const server = await baseServer({
    CallTool: () => ({ content: [{ text: { text: "called" } }] }),
    CallToolWithProgress: () => [{ result: { content: [{ text: { text: "called" } }] } }],
    GetPrompt: () => ({ messages: [] }),
    Complete: () => ({ completion: { values: ["v"] } }),
    ListTools: () => [{ tool: { name: "t" } }],
    ReadResourceChunked: () => [{ uri: "u", text_chunk: "text", is_final: true }],
  });
  const wire = await wireFor(server.address);
  const link = await wire.dial(server.address, {
    client: { info: { name: "c", version: "1", title: "C" }, capabilities: { elicitation: {} } },
  });
  return {
    server,
    link,
    async [Symbol.asyncDispose]() {
      await link.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const ref = { type: "ref/prompt", name: "p" };
const argument = { name: "a", value: "v" };

/** Requests that the base cannot say, and the path of what it cannot. */
const unsayable: readonly (readonly [string, string, object])[] = [
  ["tools/call", "params.arguments.a", { name: "t", arguments: { a: "\ud800", b: 1 } }],
  ["tools/call", "params.arguments.a[1].b", { name: "t", arguments: { a: [0, { b: "\udfff" }] } }],
  ["tools/call", 'params.arguments["\\ud800"]', { name: "t", arguments: { "\ud800": 1 } }],
  ["tools/call", "params.name", { name: "\ud800" }],
  ["tools/call", "params.arguments", { name: "t", arguments: [1] }],
  ["tools/call", "params.task", { name: "t", task: { ttl: 1 } }],
  ["tools/call", "params.extra", { name: "t", extra: 1 }],
  ["tools/call", "params.inputResponses", { name: "t", inputResponses: { a: {} } }],
  ["tools/call", "params.requestState", { name: "t", requestState: "s" }],
  ["tools/call", 'params._meta["vendor/key"]', { name: "t", _meta: { "vendor/key": 1 } }],
  ["prompts/get", "params.arguments.n", { name: "p", arguments: { n: 1, m: "x" } }],
  ["prompts/get", "params.arguments.s", { name: "p", arguments: { s: "\ud800" } }],
  ["completion/complete", "params.argument.more", { ref, argument: { ...argument, more: 1 } }],
  ["completion/complete", "params.argument.value", { ref, argument: { name: "a", value: 1 } }],
  ["completion/complete", "params.context", { ref, argument, context: { arguments: { b: "c" } } }],
  ["completion/complete", "params.ref", { ref: { type: "ref/other" }, argument }],
  ["completion/complete", "params.ref.title", { ref: { ...ref, title: "T" }, argument }],
  ["tools/list", "params.cursor", { cursor: "c" }],
  ["tools/list", "params._meta.number", { _meta: { number: 1 } }],
  ["resources/read", "params.uri", { uri: "\ud800" }],
];

describe("a request to a server of the base", () => {
  it.each(unsayable)("%s is refused if it cannot say %s", async (method, path, params) => {
    await using at = await opened();
    const before = at.server.seen.length;
    const fault = await faultOf(at.link, method, params as never, contextOf(legacy));
    expect(fault.code).toBe("invalid-params");
    expect(fault.message).toContain(`${path}:`);
    expect(fault.data).toMatchObject({ path });
    expect(at.server.seen.length, JSON.stringify(at.server.seen.at(-1))).toBe(before);
  });

  it("arrives whole if it can be said", async () => {
    await using at = await opened();
    const sent: readonly (readonly [string, string, object, object])[] = [
      ["tools/call", "CallTool", { name: "t", arguments: { a: "x", b: [null, 0.5] } }, {}],
      ["prompts/get", "GetPrompt", { name: "p", arguments: { a: "b" } }, { name: "p", arguments: { a: "b" } }],
      ["completion/complete", "Complete", { ref, argument }, { prompt_ref: ref, argument_name: "a", argument_value: "v" }],
      ["tools/list", "ListTools", { _meta: { "vendor/key": "text" } }, { meta: { extra: { "vendor/key": "text" } } }],
    ];
    for (const [method, rpc, params, seen] of sent) {
      await outcome(at.link, method, params as never, contextOf(legacy));
      expect(at.server.seen.at(-1)).toMatchObject([rpc, seen]);
    }
    expect(at.server.seen.find(([rpc]) => rpc === "CallTool")?.[1].arguments.fields.b.listValue.values).toEqual([
      expect.objectContaining({ nullValue: expect.anything() }),
      expect.objectContaining({ numberValue: 0.5 }),
    ]);
  });

  it("carries trace context in its metadata, and asks for progress where there is an RPC for it", async () => {
    await using at = await opened();
    const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=b" };
    await outcome(at.link, "tools/call", { name: "t" }, contextOf({ ...legacy, trace }));
    expect(at.server.metadata.at(-1)?.getMap()).toMatchObject(trace);
    await outcome(at.link, "prompts/get", { name: "p" }, contextOf({ ...legacy, progress: true }));
    await outcome(at.link, "tools/call", { name: "t" }, contextOf({ ...legacy, progress: true }));
    expect(at.server.seen.at(-1)?.[0]).toBe("CallToolWithProgress");
  });

  it("initialises with what the base knows of the client", async () => {
    await using at = await opened();
    expect(at.server.seen.find(([rpc]) => rpc === "Initialize")?.[1].client_info).toEqual({ name: "c", version: "1" });
  });
});

describe("an answer of a server of the base", () => {
  it("keeps the numbers of enums that nobody knows", async () => {
    const annotations = { audience: 9 };
    await using server = await baseServer({
      GetPrompt: () => ({ messages: [{ role: 7, content: { text: { text: "t" }, annotations } }, { role: 2 }, { role: -1 }, { role: 0 }] }),
    });
    const link = await (await wireFor(server.address)).dial(server.address, {});
    const { result } = await outcome(link, "prompts/get", { name: "p" }, contextOf(legacy));
    expect(JSON.stringify(result["messages"])).toBe(
      JSON.stringify([
        { role: 7, content: { type: "text", text: "t", annotations: { audience: [9] } } },
        { role: "assistant" },
        { role: -1 },
        {},
      ]),
    );
    // Another peer of the base behind us reads the same numbers.
    const relay = await serve(link, "grpc://127.0.0.1:0");
    using client = baseClient(relay.address);
    const { messages } = await client.unary("GetPrompt", { name: "p" });
    expect(messages.map(({ role }: { role: unknown }) => role)).toEqual([7, "ROLE_ASSISTANT", -1, "ROLE_UNSPECIFIED"]);
    await relay.close();
    await link.close();
  });
});
