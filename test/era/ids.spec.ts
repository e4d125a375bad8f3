import { describe, expect, test, vi } from "vitest";
import { patience } from "../fixtures/children/index.js";
import { call, envelope, initialize, notification, opener, rawWires, request } from "../fixtures/raw.js";

for (const wire of rawWires) {
  describe(`ids on ${wire.name}`, () => {
    const open = opener(wire.open);

    test('ids keep their type: 1 and "1" at the same time', async () => {
      const raw = open();
      await initialize(raw);
      raw.send(call(1, "wait", { key: "number" }), call("1", "wait", { key: "string" }), call("01", "echo", { at: "01" }));
      expect(await raw.response("01")).toMatchObject({ id: "01", result: { structuredContent: { at: "01" } } });
      raw.send(notification("notifications/cancelled", { requestId: "1" }));
      const report = async (id: string): Promise<unknown> => {
        raw.send(call(id, "report"));
        return ((await raw.response(id))["result"] as { structuredContent: { cancelled: string[] } }).structuredContent.cancelled;
      };
      let asked = 0;
      await vi.waitFor(async () => expect(await report(`r${++asked}`)).toEqual(["string"]), patience);
      raw.send(notification("notifications/cancelled", { requestId: 1 }));
      await vi.waitFor(async () => expect(await report(`r${++asked}`)).toEqual(["string", "number"]), patience);
      expect(raw.heard.filter(({ id }) => id === 1 || id === "1")).toEqual([]);
    });

    test("any string and any integer is an id", async () => {
      const raw = open();
      await initialize(raw);
      const ids = [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, "", " ", "é🎈", "null", "__proto__", "x".repeat(1024)];
      raw.send(...ids.map((id, at) => call(id, "echo", { at })));
      for (const [at, id] of ids.entries()) expect(await raw.response(id)).toMatchObject({ id, result: { structuredContent: { at } } });
    });

    test("progress carries the token as it was given", async () => {
      const raw = open();
      await initialize(raw);
      for (const [id, progressToken] of [
        [1, "1"],
        ["1", 1],
        [2, 0],
        [3, ""],
      ] as const) {
        const from = raw.heard.length;
        raw.send(call(id, "count", { n: 3 }, { progressToken }));
        await raw.response(id);
        const params = raw.heard.slice(from, -1).map((message) => message["params"]);
        expect(params).toMatchObject([1, 2, 3].map((progress) => ({ progressToken, progress })));
      }
    });

    test("a second request with the id of a live one is refused, and the first is unharmed", async () => {
      for (const meta of [undefined, envelope()]) {
        const raw = open();
        if (meta === undefined) await initialize(raw);
        const of = (id: number, name: string, args = {}) =>
          request(id, "tools/call", { name, arguments: args, ...(meta && { _meta: meta }) });
        const told = await raw.during(() => raw.send(of(7, "wait", { key: "first" }), of(7, "echo", { second: true })));
        expect(told).toMatchObject([{ id: 7, error: { code: -32600, message: expect.stringContaining("still open") } }]);
        raw.send(of(8, "report"));
        expect(await raw.response(8)).toMatchObject({ result: { structuredContent: { started: ["first"], cancelled: [] } } });
        raw.send(notification("notifications/cancelled", { requestId: 7 }));
        const again = await raw.during(() => raw.send(of(7, "echo", { third: true })));
        expect(again).toMatchObject([{ id: 7, result: { structuredContent: { third: true } } }]);
      }
    });

    test("an id may be used again once it was answered", async () => {
      const raw = open();
      await initialize(raw);
      for (let at = 0; at < 50; at++) {
        const told = await raw.during(() => raw.send(call(0, "echo", { at })));
        expect(told).toMatchObject([{ id: 0, result: { structuredContent: { at } } }]);
      }
    });
  });
}
