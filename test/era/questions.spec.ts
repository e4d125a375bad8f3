import { describe, expect, it, vi } from "vitest";
import { createServer, elicit, Fault, guard, type JsonObject, once, type Service } from "../../src/core/index.js";
import { asking } from "../support/peer.js";
import { initialized, modern, raw, request, type Single, served, servedLines } from "./raw.js";

function answering(answer: () => JsonObject): Service & { calls: JsonObject[] } {
  const calls: JsonObject[] = [];
  return {
    calls,
    call: ({ method, params }, context) =>
      once(context, () => {
        if (method === "server/discover") return { supportedVersions: [], capabilities: {} };
        if (method !== "tools/call") throw new Fault("unknown-method", method);
        calls.push(params);
        return answer();
      }),
    notify: () => Promise.resolve(),
  };
}

const isAsk =
  (method: string) =>
  (message: Single): message is Extract<Single, { kind: "request" }> =>
    message.kind === "request" && message.method === method;

describe("a legacy client whose server requires input", () => {
  it("is asked, and one refusal withdraws the other questions", async () => {
    const service = answering(() => ({
      resultType: "input_required",
      inputRequests: { a: { method: "elicitation/create", params: { message: "a" } }, b: { method: "roots/list" } },
      requestState: "s",
    }));
    const client = raw(served(service).link);
    await initialized(client, { elicitation: {}, roots: {} });
    await client.send(request(1, "tools/call", { name: "x" }));
    const [a, b] = [await client.find(isAsk("elicitation/create")), await client.find(isAsk("roots/list"))];
    await client.send({ jsonrpc: "2.0", id: a.id, error: { code: -32000, message: "not today" } });
    expect(await client.answer(1)).toMatchObject({ kind: "error", error: { code: -32000, message: "not today" } });
    const told = await client.find((message) => message.kind === "notification" && message.method === "notifications/cancelled");
    expect(told).toMatchObject({ params: { requestId: b.id } });
    expect(service.calls.length).toBe(1);
    await client.link.close();
  });

  it("does not run the call again and again where nothing is asked", async () => {
    const service = answering(() => ({ resultType: "input_required" }));
    const client = raw(served(service).link);
    await initialized(client);
    await client.send(request(1, "tools/call", { name: "x" }));
    expect(await client.answer(1)).toMatchObject({ kind: "error", error: { code: -32600 } });
    expect(service.calls.length).toBe(1);
    await client.link.close();
  });
});

describe("a read on a legacy session that goes on while it asks", () => {
  it("sends what it has, and its answer after the ask's", async () => {
    const asked = asking("roots/list");
    const service: Service = {
      call: ({ method }, context) =>
        guard(async function* () {
          if (method === "server/discover") return { supportedVersions: [], capabilities: {} };
          if (method !== "resources/read") throw new Fault("unknown-method", method);
          yield asked.reply;
          yield { kind: "content", form: "text", head: { uri: "x:" } } as const;
          yield { kind: "chunk", data: "early" } as const;
          await asked.answer;
          yield { kind: "chunk", data: "late" } as const;
          return {};
        }, context),
      notify: () => Promise.resolve(),
    };
    const client = raw(served(service).link);
    await initialized(client, { roots: {} });
    await client.send(request(1, "resources/read", { uri: "x:", _meta: { "dev.anywire/chunked": { offset: 0 } } }));
    const ask = await client.find(isAsk("roots/list"));
    await client.find((message) => message.kind === "notification" && message.params["text"] === "early");
    expect(client.seen.some((message) => message.kind === "result" && message.id === 1)).toBe(false);
    await client.send({ jsonrpc: "2.0", id: ask.id, result: { roots: [] } });
    await client.find((message) => message.kind === "notification" && message.params["text"] === "late");
    expect(await client.answer(1)).toMatchObject({ kind: "result" });
    await client.link.close();
  });
});

describe("an ask on a legacy session", () => {
  it("fails when its answer is none, so that its handler does not wait for ever", async () => {
    const server = createServer({ name: "s", version: "1" }).tool("ask", {}, async function* () {
      return JSON.stringify(yield* elicit({ message: "?", requestedSchema: {} }));
    });
    const { client, write } = servedLines(server);
    await initialized(client, { elicitation: {} });
    await client.send(request(1, "tools/call", { name: "ask" }));
    const { id } = await client.find(isAsk("elicitation/create"));
    write(JSON.stringify({ jsonrpc: "2.0", id, result: ["no object"] }));
    expect(await client.answer(1)).toMatchObject({ kind: "error", error: { code: -32600 } });
    // Nobody wants an answer to an answer.
    expect(client.seen.filter((message) => message.kind === "error").length).toBe(1);
    await client.link.close();
  });

  it("that was withdrawn before it could be sent is not heard of", async () => {
    const { reply, cancel } = asking("roots/list");
    const service: Service = {
      call: ({ method }, context) =>
        guard(async function* () {
          if (method === "server/discover") return { supportedVersions: [], capabilities: {} };
          if (method !== "tools/call") throw new Fault("unknown-method", method);
          cancel.fire();
          yield reply;
          return {};
        }, context),
      notify: () => Promise.resolve(),
    };
    const client = raw(served(service).link);
    await initialized(client, { roots: {} });
    await client.send(request(1, "tools/call"));
    await client.answer(1);
    expect(client.seen.filter((message) => message.kind === "notification" || message.kind === "request")).toEqual([]);
    await client.link.close();
  });
});

it("a modern client is not asked for nothing: a question that is withdrawn while its state is sealed leaves the call running", async () => {
  const asked = asking("roots/list");
  const service: Service = {
    call: ({ method }, context) =>
      guard(async function* () {
        if (method === "server/discover") return { supportedVersions: [], capabilities: {} };
        yield asked.reply;
        await new Promise<void>((resolve) => asked.cancel.on(resolve));
        return { content: [] };
      }, context),
    notify: () => Promise.resolve(),
  };
  const digest = crypto.subtle.digest.bind(crypto.subtle);
  const sealing = vi.spyOn(crypto.subtle, "digest").mockImplementation((...args) => {
    asked.cancel.fire();
    return digest(...args);
  });
  const client = raw(served(service).link);
  await client.send(modern(1, "tools/call", { name: "x" }, {}, { roots: {} }));
  const answer = JSON.stringify(await client.answer(1));
  expect(sealing).toHaveBeenCalled();
  expect(answer).toContain('"content":[]');
  expect(answer).not.toContain("inputRequests");
  sealing.mockRestore();
  await client.link.close();
});
