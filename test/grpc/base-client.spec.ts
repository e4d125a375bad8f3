import * as grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createServer, type Listener, progress, type Server, serve } from "../../src/api/index.js";
import { baseService, type Message } from "./base.js";

let listener: Listener;
let server: Server;
let client: grpc.Client & Record<string, (...args: unknown[]) => Message>;
let notes = ["a", "b"];

function sample(): Server {
  const made = createServer({ name: "sample", version: "1", instructions: "Try me." });
  made
    .tool("echo", { description: "Echoes", annotations: { readOnlyHint: false, title: "Echo" } }, ({ text }) => String(text))
    .tool("count", {}, async function* ({ n }) {
      for (let at = 1; at <= Number(n); at++) yield progress(at, Number(n), `step ${at}`);
      return "counted";
    })
    .tool("slow", {}, async ({ ms }) => {
      await new Promise((resolve) => setTimeout(resolve, Number(ms)));
      return `slept ${String(ms)}`;
    })
    .tool("boom", {}, () => {
      throw new Error("it broke");
    })
    .tool("wait", {}, (_args, ctx) => new Promise((resolve) => ctx.cancel.on(() => resolve("left"))))
    .resource({ uri: "test://text", name: "text", mimeType: "text/plain" }, () => "Hello, wörld!")
    .resource({ uri: "test://octets", name: "octets", mimeType: "application/octet-stream" }, async function* () {
      for (let at = 0; at < 16; at++) yield new Uint8Array(1000).fill(at);
    })
    .resources({
      async *list() {
        for (const note of notes) yield { uri: `note://${note}`, name: note };
      },
      read: (uri) => (uri.startsWith("note://") ? `note ${uri.slice(7)}` : undefined),
    })
    .prompt("greet", { arguments: { who: { required: true, complete: () => ["ada", "alan"] } } }, ({ who }) => `Hello, ${who}!`);
  return made;
}

beforeAll(async () => {
  server = sample();
  listener = await serve(server, "grpc://127.0.0.1:0");
  client = new (baseService(true))(listener.address.slice("grpc://".length), grpc.credentials.createInsecure()) as never;
});
afterAll(async () => {
  client.close();
  await listener.close();
});

function unary(method: string, request: object, metadata = new grpc.Metadata()): Promise<Message> {
  return new Promise((resolve, reject) => {
    (client[method] as (...args: unknown[]) => unknown).call(client, request, metadata, (error: unknown, reply: Message) =>
      error === null ? resolve(reply) : reject(error),
    );
  });
}

async function all(call: AsyncIterable<Message>): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const message of call) messages.push(message);
  return messages;
}

describe("a client of the base", () => {
  it("initialises, gets a session in metadata, and calls without a stream", async () => {
    const call = client["Initialize"]?.(
      { protocol_version: "2025-11-25", capabilities: {}, client_info: { name: "t", version: "1" } },
      () => {},
    );
    const metadata: grpc.Metadata = await new Promise((resolve) => call.on("metadata", resolve));
    const [id] = metadata.get("mcp-session-id");
    expect(String(id).length).toBeGreaterThanOrEqual(20);
    const named = new grpc.Metadata();
    named.set("mcp-session-id", String(id));
    const reply = await unary("CallTool", { name: "echo", arguments: { fields: { text: { stringValue: "in a session" } } } }, named);
    expect(reply.content[0].text.text).toBe("in a session");
    const strange = new grpc.Metadata();
    strange.set("mcp-session-id", "AAAAAAAAAAAAAAAAAAAAAA");
    await expect(unary("CallTool", { name: "echo" }, strange)).rejects.toMatchObject({ code: grpc.status.NOT_FOUND });
  });

  it("pings", async () => {
    expect(await unary("Ping", {})).toEqual({});
  });

  it("lists tools item by item, and hints that are false are not lost", async () => {
    const tools = await all(client["ListTools"]?.({ page_size_hint: 2 }));
    expect(tools.map(({ tool }) => tool.name)).toEqual(["echo", "count", "slow", "boom", "wait"]);
    expect(tools[0].tool).toMatchObject({ description: "Echoes", annotations: { title: "Echo", read_only_hint: false } });
  });

  it("lists resources, templates and prompts", async () => {
    expect((await all(client["ListResources"]?.({}))).map(({ resource }) => resource.uri)).toContain("test://text");
    expect(await all(client["ListResourceTemplates"]?.({}))).toEqual([]);
    const [{ prompt }] = await all(client["ListPrompts"]?.({}));
    expect(prompt).toMatchObject({ name: "greet", arguments: [{ name: "who", required: true }] });
  });

  it("calls a tool, and hears of an error as a result or as a status", async () => {
    const reply = await unary("CallTool", { name: "echo", arguments: { fields: { text: { stringValue: "hi" } } } });
    expect(reply.content[0].text.text).toBe("hi");
    expect(await unary("CallTool", { name: "boom" })).toMatchObject({ is_error: true });
    const failed = await unary("CallTool", { name: "nope" }).catch((error) => error);
    expect(failed.code).toBe(grpc.status.INVALID_ARGUMENT);
    expect(failed.metadata.get("mcp-error-code")).toEqual(["-32602"]);
  });

  it("hears progress before the result, and failures in the message", async () => {
    const args = { fields: { n: { numberValue: 5 } } };
    const updates = await all(client["CallToolWithProgress"]?.({ name: "count", arguments: args, progress_token: { string_token: "t" } }));
    expect(updates.map(({ update }) => update)).toEqual(["progress", "progress", "progress", "progress", "progress", "result"]);
    expect(updates[4].progress).toMatchObject({ progress: 5, total: 5, message: "step 5", progress_token: { string_token: "t" } });
    const [failed] = await all(client["CallToolWithProgress"]?.({ name: "nope" }));
    expect(failed).toMatchObject({ update: "error", error: { code: -32602 } });
  });

  it("runs tool calls in parallel, answered as they finish", async () => {
    const call = client["StreamToolCalls"]?.();
    const ms = (value: number): object => ({ fields: { ms: { numberValue: value } } });
    call.write({ request_id: "slow", name: "slow", arguments: ms(300) });
    call.write({ request_id: "slow", name: "slow", arguments: ms(1) });
    call.write({ request_id: "fast", name: "slow", arguments: ms(1) });
    call.write({ request_id: "bad", name: "nope" });
    call.end();
    const replies = await all(call);
    expect(replies.at(-1)).toMatchObject({ request_id: "slow", result: "success" });
    expect(replies.filter(({ request_id }) => request_id === "slow").map(({ result }) => result)).toEqual(["error", "success"]);
    expect(replies.find(({ request_id }) => request_id === "bad")).toMatchObject({ error: { code: -32602 } });
  });

  it("reads a resource whole", async () => {
    const { contents } = await unary("ReadResource", { uri: "test://text" });
    expect(contents).toEqual([expect.objectContaining({ uri: "test://text", mime_type: "text/plain", text: "Hello, wörld!" })]);
    const octets = await unary("ReadResource", { uri: "test://octets" });
    expect(octets.contents[0].blob.length).toBe(16_000);
    await expect(unary("ReadResource", { uri: "test://none" })).rejects.toMatchObject({ code: grpc.status.NOT_FOUND });
  });

  it("reads a resource in chunks, of the size and from the offset it names", async () => {
    const chunks = await all(client["ReadResourceChunked"]?.({ uri: "test://octets", chunk_size: 400, offset: 14_500 }));
    const data = chunks.filter(({ blob_chunk }) => blob_chunk?.length > 0);
    expect(Math.max(...data.map(({ blob_chunk }) => blob_chunk.length))).toBeLessThanOrEqual(400);
    expect(data[0]).toMatchObject({ uri: "test://octets", mime_type: "application/octet-stream", offset: 14_500 });
    const joined = Buffer.concat(data.map(({ blob_chunk }) => blob_chunk));
    expect(joined.length).toBe(1_500);
    expect([...new Set(joined)]).toEqual([14, 15]);
    expect(chunks.at(-1).is_final).toBe(true);
  });

  it("watches by pattern, with what is there at first, what changes, comes and goes", async () => {
    const call = client["WatchResources"]?.({ uri_patterns: ["note://*"], include_initial: true });
    const seen: Message[] = [];
    call.on("data", (message: Message) => seen.push(message));
    call.on("error", () => {});
    await vi.waitFor(() => expect(seen.map(({ uri }) => uri)).toEqual(["note://a", "note://b"]), { timeout: 10_000 });
    expect(seen[0].contents.text).toBe("note a");
    expect(Number(seen[0].timestamp.seconds)).toBeGreaterThan(1_600_000_000);
    server.updated("note://a");
    await vi.waitFor(() => expect(seen.at(-1)).toMatchObject({ uri: "note://a", change_type: "RESOURCE_CHANGE_TYPE_MODIFIED" }), {
      timeout: 10_000,
    });
    notes = ["b", "c"];
    server.changed("resources");
    await vi.waitFor(
      () =>
        expect(
          seen
            .slice(3)
            .map(({ uri, change_type }) => `${uri} ${change_type}`)
            .sort(),
        ).toEqual(["note://a RESOURCE_CHANGE_TYPE_DELETED", "note://c RESOURCE_CHANGE_TYPE_CREATED"]),
      { timeout: 10_000 },
    );
    // A watch blocks no call.
    expect(await unary("Ping", {})).toEqual({});
    call.cancel();
  });

  it("gets a prompt, its texts as a stream, and completions", async () => {
    expect(await unary("GetPrompt", { name: "greet", arguments: { who: "Ada" } })).toMatchObject({
      messages: [{ role: "ROLE_USER", content: { text: { text: "Hello, Ada!" } } }],
    });
    const tokens = await all(client["StreamPromptCompletion"]?.({ name: "greet", arguments: { who: "Ada" } }));
    expect(tokens.map(({ token }) => token).join("")).toBe("Hello, Ada!");
    expect(tokens.at(-1)).toMatchObject({ is_final: true, finish_reason: "stop" });
    const { completion } = await unary("Complete", {
      prompt_ref: { type: "ref/prompt", name: "greet" },
      argument_name: "who",
      argument_value: "a",
    });
    expect(completion.values).toEqual(["ada", "alan"]);
  });

  it("does everything over one Session", async () => {
    const call = client["Session"]?.();
    const seen: Message[] = [];
    call.on("data", (message: Message) => seen.push(message));
    const replies = (id: string): Message[] => seen.filter(({ in_reply_to }) => in_reply_to === id);
    const until = (id: string, payload: string): Promise<Message> =>
      vi.waitFor(
        () => {
          const found = replies(id).find((message) => message.payload === payload);
          expect(found, `${id} ${payload}`).toBeDefined();
          return found;
        },
        { timeout: 10_000 },
      );

    call.write({
      message_id: "1",
      initialize: { protocol_version: "2025-11-25", capabilities: {}, client_info: { name: "t", version: "1" } },
    });
    expect((await until("1", "initialize")).initialize).toMatchObject({
      protocol_version: "2025-11-25",
      server_info: { name: "sample" },
      instructions: "Try me.",
    });
    call.write({ message_id: "2", list_tools: {} });
    expect((await until("2", "stream_end")).stream_end.request_id).toBe("2");
    expect(replies("2").filter(({ payload }) => payload === "list_tools").length).toBe(5);
    call.write({ message_id: "w", call_tool: { name: "wait" } });
    call.write({ message_id: "3", call_tool: { name: "echo", arguments: { fields: { text: { stringValue: "x" } } } } });
    expect((await until("3", "call_tool")).call_tool.content[0].text.text).toBe("x");
    call.write({ message_id: "4", call_tool: { name: "nope" } });
    expect((await until("4", "error")).error.code).toBe(-32602);
    call.write({ message_id: "5", read_resource_chunked: { uri: "test://octets", chunk_size: 5000 } });
    await until("5", "stream_end");
    const chunks = replies("5").filter(({ payload }) => payload === "resource_chunk");
    expect(Buffer.concat(chunks.map(({ resource_chunk }) => resource_chunk.blob_chunk ?? Buffer.alloc(0))).length).toBe(16_000);
    call.write({ message_id: "6", read_resource_chunked: { uri: "test://none" } });
    await until("6", "stream_error");
    call.write({ message_id: "7", watch_resources: { uri_patterns: ["note://*"], include_initial: true } });
    await until("7", "resource_notification");
    call.write({ message_id: "c7", cancel: { request_id: "7" } });
    await until("7", "stream_end");
    call.write({ message_id: "8", stream_prompt_completion: { name: "greet", arguments: { who: "Bo" } } });
    await until("8", "stream_end");
    expect(replies("8")[0].completion_chunk.token).toBe("Hello, Bo!");
    call.write({ message_id: "9", ping: {} });
    await until("9", "ping");
    call.write({ message_id: "cw", cancel: { request_id: "w" } });
    await until("w", "stream_end");
    call.end();
    await new Promise((resolve) => call.on("end", resolve));
  });
});
