import { describe, expect, it, vi } from "vitest";
import { asking, gate, type Handle, type Peer, peer } from "../../../test/support/peer.js";
import { type AskContext, type ClientOptions, createClient, type ElicitResult, Fault, type JsonObject, type McpClient } from "../index.js";

async function withTool(handle: Handle, options: ClientOptions = {}): Promise<{ client: McpClient; server: Peer }> {
  const server = peer({ "tools/call": handle });
  return { client: await createClient(server, options), server };
}

const accept = (content: JsonObject): ElicitResult => ({ action: "accept", content });
const text = (value: unknown): JsonObject => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const content = (value: unknown): JsonObject => expect.objectContaining(text(value));

describe("asks in the middle of a call", () => {
  it("are answered while reading goes on", async () => {
    const go = gate();
    const question = asking("elicitation/create", { message: "?" });
    const { client } = await withTool(
      async function* () {
        yield question.reply;
        yield { kind: "progress", params: { progress: 1 } };
        return text(await question.answer);
      },
      {
        elicit: async ({ message }) => {
          await go;
          return accept({ message });
        },
      },
    );
    // Only progress that was read behind the ask lets the handler go on.
    await expect(client.callTool("a", {}, { onProgress: () => go.open() })).resolves.toEqual(
      content({ action: "accept", content: { message: "?" } }),
    );
  });

  it("do not show in a stream, and can be several at once", async () => {
    const questions = [asking("sampling/createMessage", { n: 1 }), asking("vendor/ask", { n: 2 }), asking("roots/list")];
    const { client } = await withTool(
      async function* () {
        for (const { reply } of questions) yield reply;
        return text(await Promise.all(questions.map(({ answer }) => answer)));
      },
      {
        sample: (params) => ({ role: "assistant", content: params["n"], model: "m" }),
        asks: { "vendor/ask": ({ n }) => ({ n }) },
        roots: [{ uri: "file:///a" }],
      },
    );
    const kinds: string[] = [];
    for await (const reply of client.stream("tools/call", {})) {
      kinds.push(reply.kind);
      if (reply.kind === "result")
        expect(reply.value).toEqual(content([{ role: "assistant", content: 1, model: "m" }, { n: 2 }, { roots: [{ uri: "file:///a" }] }]));
    }
    expect(kinds).toEqual(["result"]);
  });

  it("are refused without a handler, for modes that were not declared, and with the handler's error", async () => {
    const questions = [
      asking("vendor/nothing"),
      asking("elicitation/create", { mode: "url", url: "https://example.org" }),
      asking("sampling/createMessage", { tools: [] }),
      asking("vendor/broken"),
      asking("vendor/no"),
      asking("vendor/nonsense"),
    ];
    const onFault = vi.fn();
    const { client } = await withTool(
      async function* () {
        for (const { reply } of questions) yield reply;
        const outcomes = await Promise.allSettled(questions.map(({ answer }) => answer));
        return text(outcomes.map((outcome) => outcome.status === "rejected" && [outcome.reason.code, outcome.reason.rpcCode]));
      },
      {
        elicit: () => ({ action: "accept" }),
        sample: () => ({ role: "assistant", content: "", model: "" }),
        asks: {
          "vendor/broken": () => Promise.reject(new Error("oops")),
          "vendor/no": () => {
            throw new Fault("application", "the user says no", { rpcCode: -1 });
          },
          "vendor/nonsense": () => 1 as unknown as JsonObject,
        },
        onFault,
      },
    );
    await expect(client.callTool("a")).resolves.toEqual(
      content(
        [["unknown-method"], ["invalid-params"], ["invalid-params"], ["internal"], ["application", -1], ["internal"]].map(([a, b]) => [
          a,
          b,
        ]),
      ),
    );
    expect(onFault.mock.calls.map(([fault]) => fault.message)).toEqual(["oops", "the handler of vendor/nonsense returned no object"]);
  });

  it("can be withdrawn", async () => {
    const question = asking("elicitation/create");
    const go = gate();
    const answered = vi.fn();
    question.answer.then(answered, answered);
    const handling = gate<AskContext>();
    const { client } = await withTool(
      async function* () {
        yield question.reply;
        await handling;
        question.cancel.fire(new Fault("cancelled", "never mind"));
        yield { kind: "progress", params: { progress: 1 } };
        return text("done without");
      },
      {
        elicit: async (_, context) => {
          handling.open(context);
          await go;
          return { action: "accept" };
        },
      },
    );
    await expect(client.callTool("a")).resolves.toEqual(content("done without"));
    const { signal } = await handling;
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ message: "never mind" });
    go.open();
    await client.ping();
    expect(answered).not.toHaveBeenCalled();
  });

  it("no longer stop the clock once they are withdrawn", async () => {
    const question = asking("elicitation/create");
    const { client } = await withTool(
      async function* (_, { cancel }) {
        yield question.reply;
        question.cancel.fire();
        await new Promise<void>((resolve) => cancel.on(resolve));
        return {};
      },
      { timeout: 30, elicit: () => new Promise(() => {}) },
    );
    await expect(client.callTool("a")).rejects.toMatchObject({ code: "deadline" });
  });

  it("end with their call, and with the client", async () => {
    const { client, server } = await withTool(
      async function* (_, { cancel }) {
        yield asking("elicitation/create").reply;
        await new Promise<void>((resolve) => cancel.on(resolve));
        return {};
      },
      { elicit: (_, context) => new Promise(() => void signals.push(context.signal)) },
    );
    const signals: AbortSignal[] = [];
    const left = client.streamTool("a");
    const pending = left.next();
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    await left.return();
    await pending;
    expect(signals[0]?.aborted).toBe(true);
    const closed = client.callTool("a");
    const outcome = expect(closed).rejects.toMatchObject({ code: "unavailable" });
    await vi.waitFor(() => expect(signals).toHaveLength(2));
    await client.close();
    await outcome;
    expect(signals[1]?.aborted).toBe(true);
    expect(server.left.filter((method) => method === "tools/call")).toHaveLength(2);
  });

  it("are refused when too many are open", async () => {
    const questions = Array.from({ length: 300 }, () => asking("vendor/ask"));
    const go = gate();
    const { client } = await withTool(
      async function* () {
        for (const { reply } of questions) yield reply;
        go.open();
        const outcomes = await Promise.allSettled(questions.map(({ answer }) => answer));
        return text(outcomes.filter((outcome) => outcome.status === "rejected" && outcome.reason.code === "overload").length);
      },
      { asks: { "vendor/ask": () => go.then(() => ({})) } },
    );
    await expect(client.callTool("a")).resolves.toEqual(content(300 - 256));
  });

  it("tell how they come on", async () => {
    const question = asking("elicitation/create");
    const { client } = await withTool(
      async function* () {
        yield question.reply;
        return text(await question.answer);
      },
      {
        elicit: (_, { progress }) => {
          progress(1);
          progress(2, 3, "more");
          return { action: "decline" };
        },
      },
    );
    await client.callTool("a");
    expect(question.progress).toEqual([{ progress: 1 }, { progress: 2, total: 3, message: "more" }]);
  });

  it("do not use up the call's time", async () => {
    const question = asking("elicitation/create");
    const { client } = await withTool(
      async function* () {
        yield question.reply;
        return text(await question.answer);
      },
      {
        timeout: 50,
        elicit: async () => {
          const start = Date.now();
          await vi.waitFor(() => expect(Date.now() - start).toBeGreaterThan(120), { interval: 10 });
          return { action: "cancel" };
        },
      },
    );
    await expect(client.callTool("a")).resolves.toEqual(content({ action: "cancel" }));
  });
});

describe("results that require input", () => {
  it("are answered by calling again, the state echoed exactly", async () => {
    const state = { odd: ["\u0000", 1.5, null] };
    const { client, server } = await withTool(
      ({ inputResponses, requestState, ...params }) => {
        if (inputResponses === undefined)
          return {
            resultType: "input_required",
            inputRequests: { who: { method: "elicitation/create", params: { message: "who?" } }, where: { method: "roots/list" } },
            requestState: state,
          };
        if (requestState !== undefined)
          return {
            resultType: "input_required",
            inputRequests: JSON.parse('{"__proto__":{"method":"vendor/ask","params":{"again":true}}}'),
          };
        return { resultType: "complete", ...text({ inputResponses, params }) };
      },
      { elicit: ({ message }) => accept({ message }), roots: [], asks: { "vendor/ask": (params) => params } },
    );
    await expect(client.callTool("a", { b: 1 }, { meta: { c: 2 } })).resolves.toEqual(
      content({ inputResponses: JSON.parse('{"__proto__":{"again":true}}'), params: { name: "a", arguments: { b: 1 }, _meta: { c: 2 } } }),
    );
    const [, second, third] = server.of("tools/call").map((call) => call.request.params);
    expect(second).toMatchObject({
      inputResponses: { who: { action: "accept", content: { message: "who?" } }, where: { roots: [] } },
      requestState: state,
    });
    expect(third).not.toHaveProperty("requestState");
  });

  it("may have a state alone", async () => {
    const { client, server } = await withTool(({ requestState }) =>
      requestState === undefined ? { resultType: "input_required", requestState: "" } : text("thanks"),
    );
    await expect(client.callTool("a")).resolves.toEqual(content("thanks"));
    expect(server.of("tools/call")[1]?.request.params).toEqual({ name: "a", requestState: "" });
  });

  it("work for prompts and streams too", async () => {
    const required: Handle = ({ inputResponses }) =>
      inputResponses === undefined
        ? { resultType: "input_required", inputRequests: { a: { method: "roots/list" } } }
        : { messages: [], contents: [{ uri: "a:b", text: "hi" }] };
    const client = await createClient(peer({ "prompts/get": required, "resources/read": required }), { roots: [] });
    await expect(client.getPrompt("p")).resolves.toMatchObject({ messages: [] });
    for await (const { data } of client.readChunks("a:b")) expect(data).toBe("hi");
    expect.assertions(2);
  });

  it("come to an end", async () => {
    const { client, server } = await withTool(() => ({ resultType: "input_required", requestState: "more" }), { maxRounds: 3 });
    await expect(client.callTool("a")).rejects.toMatchObject({ code: "overload", data: { limit: "maxRounds" } });
    expect(server.of("tools/call")).toHaveLength(4);
  });

  it("fail the call if they cannot be answered, and withdraw the other questions", async () => {
    const signals: AbortSignal[] = [];
    const ask = (requests: unknown): Promise<Handle> =>
      Promise.resolve(() => ({ resultType: "input_required", inputRequests: requests as JsonObject }));
    const options: ClientOptions = {
      elicit: (_, { signal }) => new Promise(() => void signals.push(signal)),
      asks: { "vendor/broken": () => Promise.reject(new Error("oops")) },
    };
    const open = { method: "elicitation/create", params: {} };
    const broken = await withTool(await ask({ a: open, b: { method: "vendor/broken" } }), options);
    await expect(broken.client.callTool("a")).rejects.toMatchObject({ code: "internal", message: "oops" });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    const unknown = await withTool(await ask({ a: { method: "vendor/unknown" } }), options);
    await expect(unknown.client.callTool("a")).rejects.toMatchObject({ code: "missing-capability" });
    for (const nonsense of [[], 1, { a: null }, { a: {} }, undefined]) {
      const { client } = await withTool(await ask(nonsense), options);
      await expect(client.callTool("a")).rejects.toMatchObject({ code: "invalid-request" });
    }
  });

  it("end at once when the caller leaves or the connection goes", async () => {
    const signals: AbortSignal[] = [];
    const { client, server } = await withTool(
      () => ({ resultType: "input_required", inputRequests: { a: { method: "elicitation/create" } } }),
      { elicit: (_, { signal }) => new Promise(() => void signals.push(signal)) },
    );
    const controller = new AbortController();
    const left = expect(client.callTool("a", {}, { signal: controller.signal })).rejects.toMatchObject({ code: "cancelled" });
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    controller.abort();
    await left;
    const lost = expect(client.callTool("a")).rejects.toMatchObject({ code: "unavailable" });
    await vi.waitFor(() => expect(signals).toHaveLength(2));
    await server.close();
    await lost;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it("do not use up the call's time", async () => {
    const { client } = await withTool(
      ({ inputResponses }) =>
        inputResponses === undefined
          ? { resultType: "input_required", inputRequests: { a: { method: "elicitation/create" } } }
          : text("ok"),
      {
        timeout: 50,
        elicit: async () => {
          const start = Date.now();
          await vi.waitFor(() => expect(Date.now() - start).toBeGreaterThan(120), { interval: 10 });
          return { action: "cancel" };
        },
      },
    );
    await expect(client.callTool("a")).resolves.toEqual(content("ok"));
  });
});
