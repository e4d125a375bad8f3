import { describe, expect, test, vi } from "vitest";
import { patience } from "../fixtures/children/index.js";
import { call, initialize, notification, opener, rawStdio, rawWires, request } from "../fixtures/raw.js";

for (const wire of rawWires) {
  describe(`strays on ${wire.name}`, () => {
    const open = opener(wire.open);

    test("a notification is never answered, known or not", async () => {
      const raw = open();
      const notes = [
        notification("notifications/initialized"),
        notification("notifications/cancelled"),
        notification("notifications/cancelled", { requestId: null }),
        notification("notifications/cancelled", { requestId: {} }),
        notification("notifications/progress"),
        notification("notifications/progress", { progressToken: [], progress: "much" }),
        notification("notifications/roots/list_changed"),
        notification("notifications/com.example/unknown", { deep: [null] }),
        notification("notifications/dev.anywire/credit", { requestId: "none", bytes: "many" }),
        notification("tools/call", { name: "echo" }),
        notification("initialize", {}),
        notification("ping"),
        notification(""),
      ];
      expect(await raw.during(() => raw.send(...notes))).toEqual([]);
      await initialize(raw);
      expect(await raw.during(() => raw.send(...notes))).toEqual([]);
      raw.send(call(1, "echo", { after: 1 }));
      expect(await raw.response(1)).toMatchObject({ result: { structuredContent: { after: 1 } } });
    });

    test("responses to nothing are reported and harm nobody", async () => {
      const raw = open();
      await initialize(raw);
      const told = await raw.during(() =>
        raw.send(
          call(1, "wait", { key: "w" }),
          { jsonrpc: "2.0", id: 1, result: {} },
          { jsonrpc: "2.0", id: "ask-1", result: { action: "accept" } },
          { jsonrpc: "2.0", id: "none", error: { code: -32000, message: "no" } },
          { jsonrpc: "2.0", id: null, error: { code: -32700, message: "what?" } },
        ),
      );
      expect(told).toEqual([]);
      await vi.waitFor(() => expect(raw.faults).toHaveLength(4), patience);
      for (const fault of raw.faults) expect(fault).toMatch(/^invalid-request: .*no open request/);
      raw.send(call(2, "report"));
      expect(await raw.response(2)).toMatchObject({ result: { structuredContent: { started: ["w"], cancelled: [] } } });
    });

    test("a question that is answered twice takes the first answer, and the second is reported", async () => {
      const raw = open();
      await initialize(raw, "2025-11-25", { elicitation: {} });
      raw.send(call(1, "ask-form"));
      const { id } = await raw.hear(({ method }) => method === "elicitation/create");
      const answer = (name: string) => ({ jsonrpc: "2.0", id, result: { action: "accept", content: { name } } });
      raw.send(answer("first"), answer("second"), { jsonrpc: "2.0", id, error: { code: 1, message: "third" } });
      expect(await raw.response(1)).toMatchObject({ result: { structuredContent: { content: { name: "first" } } } });
      await vi.waitFor(() => expect(raw.faults).toHaveLength(2), patience);
    });

    test("cancelling what has ended or was never there is ignored, and a cancellation that names no call is reported", async () => {
      const raw = open();
      await initialize(raw);
      raw.send(call(0, "echo"));
      await raw.response(0);
      const told = await raw.during(() =>
        raw.send(
          call(1, "wait", { key: "w" }),
          notification("notifications/cancelled", { requestId: "1" }),
          notification("notifications/cancelled", { requestId: 0 }),
          notification("notifications/cancelled", { requestId: 99, reason: "no such" }),
          notification("notifications/cancelled", { requestId: null }),
        ),
      );
      expect(told).toEqual([]);
      await vi.waitFor(() => expect(raw.faults).toEqual([expect.stringMatching(/^invalid-request: .*names no call/)]), patience);
      raw.send(call(2, "report"));
      expect(await raw.response(2)).toMatchObject({ result: { structuredContent: { started: ["w"], cancelled: [] } } });
    });
  });
}

describe("malformed messages on stdio", () => {
  const open = opener(rawStdio);

  test("a malformed notification is not answered either, but told of", async () => {
    const raw = open();
    await initialize(raw);
    const bad = [
      { jsonrpc: "2.0", method: "notifications/x", params: [1] },
      { jsonrpc: "2.0", method: "notifications/x", params: "text" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: 7 },
    ];
    expect(await raw.during(() => raw.send(...bad))).toEqual([]);
    await vi.waitFor(() => expect(raw.faults).toHaveLength(bad.length), patience);
  });

  test("a malformed response is not answered, and ends the question that it was to answer", async () => {
    const raw = open();
    await initialize(raw, "2025-11-25", { elicitation: {} });
    for (const [at, broken] of [
      { result: 5 },
      { result: null },
      { error: "no" },
      { result: {}, error: { code: 1, message: "both" } },
    ].entries()) {
      const from = raw.heard.length;
      raw.send(call(at, "ask-refused"));
      await vi.waitFor(() => expect(raw.heard.length).toBeGreaterThan(from), patience);
      const { id } = raw.heard[from] as { id: string };
      raw.send({ jsonrpc: "2.0", id, ...broken });
      const { result } = await raw.response(at);
      expect(JSON.stringify(result)).toContain("refused: invalid-request");
      expect(raw.heard).toHaveLength(from + 2);
    }
  });

  test("a malformed request is answered under its id, or under null where it has none", async () => {
    const raw = open();
    await initialize(raw);
    const cases: readonly [object, unknown, number][] = [
      [{ id: 1, method: "ping" }, 1, -32600],
      [{ jsonrpc: "1.0", id: 2, method: "ping" }, 2, -32600],
      [{ jsonrpc: "2.0", id: 3, method: 5 }, 3, -32600],
      [{ jsonrpc: "2.0", id: 4, method: "ping", params: "x" }, 4, -32600],
      [{ jsonrpc: "2.0", id: 5, method: "ping", params: [1] }, 5, -32602],
      [{ jsonrpc: "2.0", id: 6 }, 6, -32600],
      [{ jsonrpc: "2.0", id: {}, method: "ping" }, null, -32600],
      [{ jsonrpc: "2.0", id: 1.5, method: "ping" }, null, -32600],
      [{ jsonrpc: "2.0", id: 2 ** 53, method: "ping" }, null, -32600],
      [{ jsonrpc: "2.0", method: 1 }, null, -32600],
    ];
    for (const [message, id, code] of cases) {
      const told = await raw.during(() => raw.write(`${JSON.stringify(message)}\n`));
      expect([message, told]).toMatchObject([message, [{ id, error: { code } }]]);
    }
    for (const text of ["nonsense", "{", "[1,]", '"text"', "7", "null", "[]", '{"jsonrpc":"2.0","id":1,"method":"ping"'])
      expect(await raw.during(() => raw.write(`${text}\n`))).toMatchObject([{ id: null, error: { code: expect.any(Number) } }]);
    raw.send(request(1, "ping"));
    expect(await raw.response(1)).toBeDefined();
  });
});
