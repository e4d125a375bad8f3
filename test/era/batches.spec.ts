import { describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/core/index.js";
import { patience } from "../fixtures/children/index.js";
import { call, envelope, initialize, notification, opener, type Raw, rawStdio, rawWires, request } from "../fixtures/raw.js";

const version = "2025-03-26";
const ids = (batch: unknown): unknown[] => (batch as JsonObject[]).map(({ id }) => id).sort();

/** The answers to a batch, which come as one array. */
async function answers(raw: Raw, act: () => void): Promise<readonly JsonObject[]> {
  const from = raw.heard.length;
  act();
  await vi.waitFor(() => expect(raw.heard.slice(from).some(Array.isArray)).toBe(true), patience);
  return raw.heard.slice(from).find(Array.isArray) as unknown as JsonObject[];
}

for (const wire of rawWires) {
  describe(`batches on ${wire.name}`, () => {
    const open = opener(wire.open);

    test("the answers come back as one array, notifications among the members not answered", async () => {
      const raw = open();
      await initialize(raw, version);
      const batch = [
        call(1, "echo", { at: 1 }),
        notification("notifications/com.example/n"),
        call("1", "echo", { at: "1" }),
        request(2, "ping"),
        request(3, "com.example/none"),
        request(4, "logging/setLevel", { level: "info" }),
        request(5, "resources/list"),
      ];
      const told = await answers(raw, () => raw.send(batch));
      expect(told).toHaveLength(6);
      const of = (id: unknown): unknown => told.find((answer) => answer["id"] === id);
      expect(of(1)).toMatchObject({ result: { structuredContent: { at: 1 } } });
      expect(of("1")).toMatchObject({ result: { structuredContent: { at: "1" } } });
      expect(of(2)).toMatchObject({ result: {} });
      expect(of(3)).toMatchObject({ error: { code: -32601 } });
      expect(of(4)).toMatchObject({ result: {} });
      expect(of(5)).toMatchObject({ result: { resources: expect.any(Array) } });
    });

    test("a batch of notifications alone is not answered", async () => {
      const raw = open();
      await initialize(raw, version);
      const batch = [
        notification("notifications/a"),
        notification("notifications/b"),
        notification("notifications/cancelled", { requestId: 9 }),
      ];
      expect(await raw.during(() => raw.send(batch))).toEqual([]);
    });

    test("a member that is cancelled has no answer and does not hold up the others", async () => {
      const raw = open();
      await initialize(raw, version);
      const early = await raw.during(() => raw.send([call(1, "wait", { key: "a" }), call(2, "echo"), call(3, "wait", { key: "b" })]));
      expect(early).toEqual([]);
      raw.send(notification("notifications/cancelled", { requestId: 1 }));
      const told = await answers(raw, () => raw.send(notification("notifications/cancelled", { requestId: 3 })));
      expect(told).toMatchObject([{ id: 2, result: { structuredContent: {} } }]);
    });

    test("a batch that cancels its own members, or all of them, is answered with what is left", async () => {
      const raw = open();
      await initialize(raw, version);
      const cancel = (requestId: number): JsonObject => notification("notifications/cancelled", { requestId });
      const told = await answers(raw, () => raw.send([call(1, "wait", { key: "a" }), cancel(1), call(2, "echo", { b: 1 })]));
      expect(told).toMatchObject([{ id: 2, result: { structuredContent: { b: 1 } } }]);
      const none = await raw.during(() => raw.send([call(3, "wait", { key: "b" }), cancel(3)]));
      expect(none).toEqual([]);
    });

    test("an id that is live is refused in the array, and what it belongs to goes on", async () => {
      const raw = open();
      await initialize(raw, version);
      raw.send(call(1, "wait", { key: "alone" }));
      const told = await answers(raw, () => raw.send([call(1, "echo"), call(2, "echo"), call(2, "echo", { twice: 1 })]));
      expect(ids(told)).toEqual([1, 2, 2]);
      expect(told.filter(({ error }) => error !== undefined).map(({ id }) => id)).toEqual([1, 2]);
      const cancelled = await raw.during(() => raw.send(notification("notifications/cancelled", { requestId: 1 })));
      expect(cancelled).toEqual([]);
      raw.send(call(9, "report"));
      expect(await raw.response(9)).toMatchObject({ result: { structuredContent: { cancelled: ["alone"] } } });
    });

    test("progress of a member comes before the array, a question to it is asked, and its answer may come in a batch", async () => {
      const raw = open();
      await initialize(raw, version, { elicitation: {} });
      raw.send([call(1, "ask-form", {}, { progressToken: "p" }), call(2, "echo")]);
      const { id } = await raw.hear(({ method }) => method === "elicitation/create");
      const told = await answers(raw, () =>
        raw.send([{ jsonrpc: "2.0", id, result: { action: "decline" } }, notification("notifications/n")]),
      );
      expect(ids(told)).toEqual([1, 2]);
      const progress = raw.heard.filter(({ method }) => method === "notifications/progress");
      expect(progress).toHaveLength(2);
      expect(raw.heard.indexOf(progress[1] as JsonObject)).toBeLessThan(raw.heard.indexOf(told as never));
    });

    for (const other of ["2024-11-05", "2025-06-18", "2025-11-25"]) {
      test(`a ${other} session has no batches`, async () => {
        const raw = open();
        await initialize(raw, other);
        const told = await raw.during(() => raw.send([call(1, "echo"), call(2, "echo")]));
        expect(told).toMatchObject([{ id: null, error: { code: -32600, message: expect.stringContaining(version) } }]);
      });
    }

    test("nor has a modern client, nor one that did not say what it is", async () => {
      const raw = open();
      const modern = request(1, "tools/call", { name: "echo", arguments: {}, _meta: envelope() });
      for (const batch of [[modern], [request(2, "ping")]])
        expect(await raw.during(() => raw.send(batch))).toMatchObject([{ id: null, error: { code: -32600 } }]);
    });

    test("initialize is no member of a batch", async () => {
      const raw = open();
      const opening = request("i", "initialize", { protocolVersion: version, capabilities: {} });
      const [first, ...more] = await raw.during(() => raw.send([opening, request(1, "ping")]));
      expect(first).toMatchObject({ error: { code: -32600 } });
      expect(more).toEqual([]);
      await initialize(raw, version);
      const again = (await raw.during(() => raw.send([opening]))).flat();
      expect(again).toMatchObject([{ error: { code: -32600 } }]);
    });
  });
}

describe("malformed batches on stdio", () => {
  const open = opener(rawStdio);

  test("what is not a message is answered among the others, a broken notification or answer is not", async () => {
    const raw = open();
    await initialize(raw, version);
    const members = [
      call(1, "echo"),
      7,
      { jsonrpc: "2.0", id: 2, method: 5 },
      { jsonrpc: "2.0", method: "notifications/x", params: 1 },
      { jsonrpc: "2.0", id: "ask-9", result: 1 },
      null,
    ];
    const told = await answers(raw, () => raw.write(`${JSON.stringify(members)}\n`));
    expect(told.map(({ id, error }) => [id, error !== undefined])).toEqual(
      expect.arrayContaining([
        [1, false],
        [2, true],
        [null, true],
        [null, true],
      ]),
    );
    expect(told).toHaveLength(4);
  });

  test("a batch within a batch, an empty one and one that is too long are refused", async () => {
    const raw = open();
    await initialize(raw, version);
    expect(await raw.during(() => raw.write("[]\n"))).toMatchObject([{ id: null, error: { code: -32600 } }]);
    const nested = await raw.during(() => raw.write(`${JSON.stringify([[request(1, "ping")]])}\n`));
    expect(nested.flat()).toMatchObject([{ id: null, error: { code: -32600 } }]);
    const long = Array.from({ length: 1025 }, (_, id) => request(id, "ping"));
    expect(await raw.during(() => raw.send(long))).toMatchObject([{ id: null, error: { data: { limit: "batch" } } }]);
  });
});
