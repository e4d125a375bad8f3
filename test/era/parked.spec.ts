import { describe, expect, test, vi } from "vitest";
import { createServer, elicit, type JsonObject, type Limits, type Server } from "../../src/core/index.js";
import { patience } from "../fixtures/children/index.js";
import { envelope, initialize, notification, opener, type Raw, rawMemory, rawWires, request } from "../fixtures/raw.js";

const able = envelope({ elicitation: { form: {} } });
const ask = (id: string | number, extra: JsonObject = {}, name = "ask-form"): JsonObject =>
  request(id, "tools/call", { name, arguments: {}, ...extra, _meta: able });

/** Asks, and gives what the retry needs. */
async function asked(raw: Raw, id: string | number): Promise<{ key: string; requestState: string }> {
  raw.send(ask(id));
  const { result } = (await raw.response(id)) as { result: JsonObject };
  expect(result).toMatchObject({ resultType: "input_required", inputRequests: expect.any(Object), requestState: expect.any(String) });
  return { key: Object.keys(result["inputRequests"] as JsonObject)[0] as string, requestState: result["requestState"] as string };
}
const answers = (key: string, name: string): JsonObject => ({ [key]: { action: "accept", content: { name } } });
const refused = { error: { code: -32602, message: expect.stringContaining("requestState") } };

for (const wire of rawWires) {
  describe(`a requestState on ${wire.name}`, () => {
    const open = opener(wire.open);

    test("resumes its call, once, with other members in between", async () => {
      const raw = open();
      const { key, requestState } = await asked(raw, 1);
      const inputResponses = answers(key, "Ada");
      raw.send(ask(2, { inputResponses, requestState }));
      expect(await raw.response(2)).toMatchObject({ result: { structuredContent: { content: { name: "Ada" } } } });
      raw.send(ask(3, { inputResponses, requestState }));
      expect(await raw.response(3)).toMatchObject(refused);
    });

    test("that was tampered with is refused, and the call still waits for the right one", async () => {
      const raw = open();
      const { key, requestState } = await asked(raw, "a");
      const inputResponses = answers(key, "Eve");
      const [version, mark, body, signature] = requestState.split(".") as [string, string, string, string];
      const flip = (text: string, at: number): string => text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
      const forged = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(body, "base64url").toString()), until: 9e15 })).toString(
        "base64url",
      );
      const tampered = [
        [version, mark, flip(body, 3), signature],
        [version, mark, body, flip(signature, 3)],
        [version, mark, forged, signature],
        [version, mark, body, ""],
        [version, mark, body],
        [version, mark, "", signature],
        [version, mark, "%%%", "%%%"],
        [version, mark, signature, body],
        [version, mark, ""],
      ].map((parts) => parts.join("."));
      raw.send(...tampered.map((state, at) => ask(at, { inputResponses, requestState: state })));
      for (const at of tampered.keys()) expect([at, await raw.response(at)]).toMatchObject([at, refused]);
      raw.send(ask("b", { inputResponses: answers(key, "Ada"), requestState }));
      expect(await raw.response("b")).toMatchObject({ result: { structuredContent: { content: { name: "Ada" } } } });
    });

    test("of another request is refused", async () => {
      const raw = open();
      const { key, requestState } = await asked(raw, "a");
      const retry = { inputResponses: answers(key, "Eve"), requestState };
      raw.send(
        ask(1, retry, "ask-both"),
        ask(2, { ...retry, arguments: { other: true } }),
        request(3, "prompts/get", { name: "ask-form", arguments: {}, ...retry, _meta: able }),
        request(4, "resources/read", { uri: "test://text", ...retry, _meta: able }),
      );
      for (const id of [1, 2, 3, 4]) expect([id, await raw.response(id)]).toMatchObject([id, refused]);
    });

    test("is taken whatever the order of the members", async () => {
      const raw = open();
      const args = { b: [1, { d: 1, c: 2 }], a: null };
      raw.send(request(1, "tools/call", { name: "ask-form", arguments: args, _meta: able }));
      const { result } = (await raw.response(1)) as { result: { requestState: string; inputRequests: JsonObject } };
      const inputResponses = answers(Object.keys(result.inputRequests)[0] as string, "Ada");
      const shuffled = { a: null, b: [1, { c: 2, d: 1 }] };
      const params = { _meta: able, requestState: result.requestState, inputResponses, arguments: shuffled, name: "ask-form" };
      raw.send(request(2, "tools/call", params));
      expect(await raw.response(2)).toMatchObject({ result: { structuredContent: { content: { name: "Ada" } } } });
    });

    test("that has expired is refused", async () => {
      const answerMs = 30;
      const raw = open({ limits: { answerMs } });
      const { key, requestState } = await asked(raw, 1);
      const since = Date.now();
      await vi.waitFor(() => expect(Date.now() - since).toBeGreaterThan(2 * answerMs), patience);
      raw.send(ask(2, { inputResponses: answers(key, "late"), requestState }));
      expect(await raw.response(2)).toMatchObject(refused);
    });

    test("of one client is nothing to another, and stays good for the first", async () => {
      const [a, b] = [open(), open()];
      const { key, requestState } = await asked(a, 1);
      b.send(ask(1, { inputResponses: answers(key, "Eve"), requestState }));
      expect(await b.response(1)).toMatchObject({ error: { code: -32602 } });
      a.send(ask(2, { inputResponses: answers(key, "Ada"), requestState }));
      expect(await a.response(2)).toMatchObject({ result: { structuredContent: { content: { name: "Ada" } } } });
    });
  });

  describe(`a cursor on ${wire.name}`, () => {
    const open = opener(wire.open);

    for (const _meta of [undefined, envelope()]) {
      const era = _meta === undefined ? "legacy" : "modern";
      const list = (id: string | number, cursor?: unknown): JsonObject =>
        request(id, "tools/list", { ...(cursor !== undefined && { cursor }), ...(_meta && { _meta }) });

      test(`goes on with its list, once (${era})`, async () => {
        const raw = open({ pageSize: 10 });
        if (_meta === undefined) await initialize(raw);
        raw.send(list(1));
        const first = (await raw.response(1))["result"] as { tools: unknown[]; nextCursor: string };
        expect(first.tools).toHaveLength(10);
        raw.send(list(2, first.nextCursor));
        const second = (await raw.response(2))["result"] as { tools: { name: string }[] };
        expect(second.tools).toHaveLength(10);
        expect(first.tools).not.toContainEqual(second.tools[0]);
        raw.send(list(3, first.nextCursor));
        expect(await raw.response(3)).toMatchObject({ error: { code: -32602, message: expect.stringContaining("cursor") } });
      });

      test(`that is unknown is refused (${era})`, async () => {
        const raw = open();
        if (_meta === undefined) await initialize(raw);
        const bad = ["none", "", 7, null, {}, "x".repeat(10_000)];
        raw.send(...bad.map((cursor, at) => list(at, cursor)));
        for (const at of bad.keys()) expect([at, await raw.response(at)]).toMatchObject([at, { error: { code: -32602 } }]);
      });

      test(`that has expired is refused (${era})`, async () => {
        const parkedMs = 30;
        const raw = open({ pageSize: 10, limits: { parkedMs } });
        if (_meta === undefined) await initialize(raw);
        raw.send(list(1));
        const { nextCursor } = (await raw.response(1))["result"] as { nextCursor: string };
        const since = Date.now();
        await vi.waitFor(() => expect(Date.now() - since).toBeGreaterThan(2 * parkedMs), patience);
        raw.send(list(2, nextCursor));
        expect(await raw.response(2)).toMatchObject({ error: { code: -32602, message: expect.stringContaining("cursor") } });
      });
    }
  });
}

describe("what is parked lets go of its source", () => {
  const released = { lists: 0, calls: 0, asksWithdrawn: 0 };
  function service(): Server {
    for (const what of Object.keys(released) as (keyof typeof released)[]) released[what] = 0;
    return createServer({ name: "parked", version: "1" })
      .tools({
        async *list() {
          try {
            for (let at = 0; ; at++) yield { name: `t${at}`, inputSchema: { type: "object" } };
          } finally {
            released.lists++;
          }
        },
        call: () => undefined,
      })
      .tool("ask", {}, async function* (_args, ctx) {
        ctx.cancel.on(() => released.asksWithdrawn++);
        try {
          const { content } = yield* elicit({ message: "Who?" });
          if (content?.["name"] === "wait") await new Promise<void>((resolve) => ctx.cancel.on(resolve));
          return "answered";
        } finally {
          released.calls++;
        }
      });
  }
  const open = opener((limits: Partial<Limits>) => rawMemory(service(), { pageSize: 2, limits }));
  const list = (id: number): JsonObject => request(id, "tools/list", { _meta: able });

  test("when it expires", async () => {
    const raw = open({ parkedMs: 20, answerMs: 20 });
    raw.send(list(1), ask(2, {}, "ask"));
    for (const id of [1, 2]) expect(await raw.response(id)).toHaveProperty("result");
    await vi.waitFor(() => expect(released).toEqual({ lists: 1, calls: 1, asksWithdrawn: 1 }), patience);
  });

  test("when there is too much of it: the oldest list makes room, the newest question is refused", async () => {
    const raw = open({ parked: 2 });
    for (let at = 0; at < 5; at++) {
      raw.send(list(10 * at), ask(10 * at + 1, {}, "ask"));
      expect(await raw.response(10 * at)).toHaveProperty("result");
      const refused = { error: { data: { limit: "parked", max: 2 } } };
      expect(await raw.response(10 * at + 1)).toMatchObject(at < 2 ? { result: { resultType: "input_required" } } : refused);
    }
    await vi.waitFor(() => expect(released).toMatchObject({ lists: 3, calls: 3 }), patience);
  });

  test("when its link ends", async () => {
    const raw = open({});
    raw.send(list(1), ask(2, {}, "ask"));
    for (const id of [1, 2]) expect(await raw.response(id)).toHaveProperty("result");
    expect(released).toEqual({ lists: 0, calls: 0, asksWithdrawn: 0 });
    await raw.close();
    await vi.waitFor(() => expect(released).toEqual({ lists: 1, calls: 1, asksWithdrawn: 1 }), patience);
  });

  test("when the request that took it up again is cancelled", async () => {
    const raw = open({});
    raw.send(ask(1, {}, "ask"));
    const { result } = (await raw.response(1)) as { result: { requestState: string; inputRequests: JsonObject } };
    // A retry without answers goes on waiting for them.
    raw.send(ask(2, { inputResponses: {}, requestState: result.requestState }, "ask"));
    const { result: again } = (await raw.response(2)) as { result: { requestState: string } };
    expect(again).toMatchObject({ resultType: "input_required" });
    expect(released.calls).toBe(0);
    const inputResponses = answers(Object.keys(result.inputRequests)[0] as string, "wait");
    await raw.during(() => raw.send(ask(3, { inputResponses, requestState: again.requestState }, "ask")));
    expect(released.calls).toBe(0);
    raw.send(notification("notifications/cancelled", { requestId: 3 }));
    await vi.waitFor(() => expect(released).toMatchObject({ calls: 1, asksWithdrawn: 1 }), patience);
  });
});
