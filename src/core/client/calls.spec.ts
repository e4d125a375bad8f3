import { describe, expect, it, vi } from "vitest";
import { all, type Handle, peer } from "../../../test/support/peer.js";
import { type ClientOptions, createClient, Fault, type McpClient, type ToolEvent } from "../index.js";

const forever: Handle = (_, { cancel }) => new Promise((resolve) => cancel.on(() => resolve({})));

const stepping: Handle = async function* () {
  yield { kind: "progress", params: { progress: 1, total: 2 } };
  yield { kind: "log", params: { level: "info", data: "halfway" } };
  yield { kind: "note", method: "vendor/note", params: { a: 1 } };
  yield { kind: "progress", params: { progress: 2, total: 2 } };
  return { resultType: "complete", content: [{ type: "text", text: "done" }], _meta: { a: 1 } };
};

async function withTool(handle: Handle, options: ClientOptions = {}): Promise<{ client: McpClient; server: ReturnType<typeof peer> }> {
  const server = peer({ "tools/call": handle });
  return { client: await createClient(server, options), server };
}

describe("callTool", () => {
  it("returns the result as it came", async () => {
    const { client, server } = await withTool(stepping);
    await expect(client.callTool("a", { b: 1 })).resolves.toEqual({
      resultType: "complete",
      content: [{ type: "text", text: "done" }],
      _meta: { a: 1 },
    });
    const [call] = server.of("tools/call");
    expect(call?.request.params).toEqual({ name: "a", arguments: { b: 1 } });
    expect(call?.context).toMatchObject({ progress: false, metadata: {} });
    expect(Object.keys(call?.context ?? {})).toEqual(["client", "cancel", "progress", "metadata"]);
  });

  it("tells the call's own listeners, in order, and else the client's", async () => {
    const told: unknown[] = [];
    const { client, server } = await withTool(stepping, {
      onProgress: ({ progress }, { params }) => told.push(["client", params["name"], progress]),
      onLog: ({ data }) => told.push(["client", data]),
      onNotification: ({ method }) => told.push(["client", method]),
    });
    await client.callTool("a", {}, { onProgress: ({ progress }) => told.push(progress), onLog: ({ data }) => told.push(data) });
    expect(told.splice(0)).toEqual([1, "halfway", ["client", "vendor/note"], 2]);
    await client.callTool("b");
    expect(told).toEqual([
      ["client", "b", 1],
      ["client", "halfway"],
      ["client", "vendor/note"],
      ["client", "b", 2],
    ]);
    expect(server.of("tools/call")[0]?.context).toMatchObject({ progress: true, logLevel: "info" });
  });

  it("survives a listener that throws", async () => {
    const onFault = vi.fn();
    const { client } = await withTool(stepping, { onFault });
    const broken = (): void => {
      throw new Error("my fault");
    };
    await expect(client.callTool("a", {}, { onProgress: broken })).resolves.toMatchObject({ _meta: { a: 1 } });
    expect(onFault).toHaveBeenCalledTimes(2);
    expect(onFault).toHaveBeenCalledWith(expect.objectContaining({ code: "internal", message: "my fault" }));
  });

  it("passes trace and metadata", async () => {
    const { client, server } = await withTool(stepping);
    await client.callTool("a", {}, { trace: { traceparent: "00-1" }, metadata: { "x-a": "1" } });
    expect(server.of("tools/call")[0]?.context).toMatchObject({ trace: { traceparent: "00-1" }, metadata: { "x-a": "1" } });
  });

  it("fails as the server does", async () => {
    const { client } = await withTool(() => Promise.reject(new Fault("application", "out of tea", { rpcCode: 7, data: [1] })));
    await expect(client.callTool("a")).rejects.toMatchObject({ code: "application", rpcCode: 7, data: [1], message: "out of tea" });
  });

  it("follows a signal, and lets go of it", async () => {
    const { client, server } = await withTool((params, context) =>
      params["name"] === "slow" ? forever(params, context) : { content: [] },
    );
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    await client.callTool("quick", {}, { signal: controller.signal });
    expect(removed).toHaveBeenCalledTimes(1);
    const call = client.callTool("slow", {}, { signal: controller.signal });
    const outcome = expect(call).rejects.toMatchObject({ code: "cancelled", cause: "enough" });
    await vi.waitFor(() => expect(server.of("tools/call")).toHaveLength(2));
    controller.abort("enough");
    await outcome;
    expect(server.of("tools/call")[1]?.context.cancel.fired).toBe(true);
    await expect(client.callTool("late", {}, { signal: controller.signal })).rejects.toMatchObject({ code: "cancelled" });
    expect(server.of("tools/call")).toHaveLength(2);
  });

  it("keeps to a deadline", async () => {
    const { client, server } = await withTool(forever, { timeout: 60_000 });
    const before = Date.now();
    await expect(client.callTool("a", {}, { timeout: 20 })).rejects.toMatchObject({ code: "deadline" });
    expect(server.left).toEqual(["tools/call"]);
    expect(server.of("tools/call")[0]?.context.deadline).toBeGreaterThanOrEqual(before + 20);
    expect(server.of("tools/call")[0]?.context.deadline).toBeLessThan(before + 60_000);
  });

  it("refuses results whose type it does not know, unless told", async () => {
    const handle: Handle = () => ({ resultType: "task", taskId: "1" });
    const { client } = await withTool(handle);
    await expect(client.callTool("a")).rejects.toMatchObject({ code: "invalid-request", message: expect.stringContaining('"task"') });
    await expect(all(client.streamTool("a"))).rejects.toMatchObject({ code: "invalid-request" });
    await expect(client.call("tools/call", { name: "a" })).resolves.toEqual({ resultType: "task", taskId: "1" });
    const told = await withTool(handle, { resultTypes: ["task"] });
    await expect(told.client.callTool("a")).resolves.toMatchObject({ taskId: "1" });
  });
});

describe("streamTool", () => {
  it("tells the kinds apart, in order, the result last", async () => {
    const onProgress = vi.fn();
    const { client, server } = await withTool(stepping, { onProgress });
    const events: ToolEvent[] = await all(client.streamTool("a"));
    expect(events).toEqual([
      { kind: "progress", progress: { progress: 1, total: 2 } },
      { kind: "log", entry: { level: "info", data: "halfway" } },
      { kind: "note", note: { method: "vendor/note", params: { a: 1 } } },
      { kind: "progress", progress: { progress: 2, total: 2 } },
      { kind: "result", result: expect.objectContaining({ content: [{ type: "text", text: "done" }] }) },
    ]);
    expect(onProgress).not.toHaveBeenCalled();
    expect(server.of("tools/call")[0]?.context.progress).toBe(true);
  });

  it("sends nothing before it is read, and leaving cancels", async () => {
    const { client, server } = await withTool(stepping);
    const stream = client.streamTool("a");
    await client.ping();
    expect(server.of("tools/call")).toHaveLength(0);
    for await (const event of stream) {
      expect(event.kind).toBe("progress");
      break;
    }
    expect(server.left).toEqual(["tools/call"]);
    await expect(stream.next()).resolves.toMatchObject({ done: true });
  });

  it("can be left in the middle of next()", async () => {
    const { client, server } = await withTool(forever);
    const stream = client.streamTool("a");
    const pending = stream.next();
    await vi.waitFor(() => expect(server.of("tools/call")).toHaveLength(1));
    await stream.return();
    await expect(pending).resolves.toEqual({ done: true, value: undefined });
    expect(server.left).toEqual(["tools/call"]);
  });

  it("fails at a deadline that passed while nobody read", async () => {
    const { client, server } = await withTool(async function* (params, context) {
      yield { kind: "progress", params: { progress: 1 } };
      await forever(params, context);
      return {};
    });
    const stream = client.streamTool("a", {}, { timeout: 20 });
    await stream.next();
    await vi.waitFor(() => expect(server.left).toEqual(["tools/call"]));
    await expect(stream.next()).rejects.toMatchObject({ code: "deadline" });
  });
});

describe("stream", () => {
  it("gives the replies of any method", async () => {
    const server = peer({ "vendor/x": stepping });
    const client = await createClient(server);
    const kinds: string[] = [];
    for await (const reply of client.stream("vendor/x")) kinds.push(reply.kind);
    expect(kinds).toEqual(["progress", "log", "note", "progress", "result"]);
  });
});
