import { describe, expect, test } from "vitest";
import { legacyVersions, meta, modernVersions } from "../../src/core/index.js";
import { envelope, initialize, opener, rawWires, request } from "../fixtures/raw.js";

for (const wire of rawWires) {
  describe(`modern requests on ${wire.name}`, () => {
    const open = opener(wire.open);

    test("say for themselves who calls, and are told what they get", async () => {
      const raw = open();
      raw.send(
        request(1, "resources/list", { _meta: envelope() }),
        request(2, "tools/call", { name: "echo", arguments: { a: 1 }, _meta: envelope() }),
        request(3, "resources/read", { uri: "test://text", _meta: envelope() }),
      );
      const serverInfo = expect.objectContaining({ name: "contract", version: "1.2.3" });
      const told = { resultType: "complete", _meta: { [meta.serverInfo]: serverInfo } };
      const cached = { ...told, ttlMs: 0, cacheScope: "private" };
      expect(await raw.response(1)).toMatchObject({ result: cached });
      expect(await raw.response(2)).toMatchObject({ result: { ...told, structuredContent: { a: 1 } } });
      expect(await raw.response(3)).toMatchObject({ result: cached });
    });

    test("without what _meta has to say they are refused", async () => {
      const raw = open();
      const { [meta.protocolVersion]: version, [meta.clientCapabilities]: capabilities } = envelope();
      const bad = [
        undefined,
        {},
        { [meta.clientCapabilities]: capabilities },
        { [meta.protocolVersion]: version },
        { [meta.protocolVersion]: 20260728, [meta.clientCapabilities]: capabilities },
        { [meta.protocolVersion]: null, [meta.clientCapabilities]: capabilities },
        { [meta.protocolVersion]: version, [meta.clientCapabilities]: [] },
        { [meta.protocolVersion]: version, [meta.clientCapabilities]: "all" },
        { [meta.protocolVersion]: version, [meta.clientCapabilities]: null },
      ];
      for (const eras of [["modern"], ["legacy", "modern"]] as const) {
        const other = eras.length === 1 ? open({ eras }) : raw;
        other.send(...bad.map((_meta, at) => request(at, "tools/list", _meta === undefined ? {} : { _meta })));
        for (const at of bad.keys()) expect([at, await other.response(at)]).toMatchObject([at, { error: { code: -32602 } }]);
      }
      raw.send(request("odd", "tools/call", { name: "echo", _meta: "none" }));
      expect(await raw.response("odd")).toMatchObject({ error: { code: -32602 } });
    });

    test("in a version that is not spoken they are told which are", async () => {
      const raw = open();
      for (const [at, requested] of ["2031-01-01", "2025-11-25", ""].entries()) {
        raw.send(request(at, "tools/list", { _meta: { ...envelope(), [meta.protocolVersion]: requested } }));
        expect(await raw.response(at)).toMatchObject({ error: { code: -32022, data: { supported: ["2026-07-28"], requested } } });
      }
    });

    test("discover names the versions of this edge", async () => {
      for (const [eras, versions] of [
        [["modern"], modernVersions],
        [
          ["legacy", "modern"],
          [...modernVersions, ...legacyVersions],
        ],
      ] as const) {
        const raw = open({ eras });
        raw.send(request(1, "server/discover", { _meta: envelope() }));
        expect(await raw.response(1)).toMatchObject({ result: { supportedVersions: versions, capabilities: { tools: {} } } });
      }
    });

    test("and a legacy session go on side by side on one link", async () => {
      const raw = open();
      raw.send(request(1, "tools/call", { name: "echo", arguments: { era: "modern" }, _meta: envelope() }));
      await initialize(raw);
      raw.send(
        request(2, "tools/call", { name: "echo", arguments: { era: "legacy" } }),
        request(3, "tools/call", { name: "echo", arguments: { era: "modern" }, _meta: envelope() }),
      );
      expect(await raw.response(1)).toMatchObject({ result: { resultType: "complete" } });
      expect((await raw.response(2))["result"]).not.toHaveProperty("resultType");
      expect(await raw.response(3)).toMatchObject({ result: { resultType: "complete" } });
    });

    test("hear log entries only where they ask for them", async () => {
      const raw = open();
      const logs = (id: number, extra = {}) => request(id, "tools/call", { name: "logs", arguments: {}, _meta: envelope({}, extra) });
      raw.send(logs(1));
      await raw.response(1);
      expect(raw.heard.filter(({ method }) => method === "notifications/message")).toEqual([]);
      raw.send(logs(2, { [meta.logLevel]: "debug" }));
      await raw.response(2);
      expect(raw.heard.filter(({ method }) => method === "notifications/message")).toHaveLength(2);
    });
  });
}
