import { describe, expect, test } from "vitest";
import { call, envelope, initialize, notification, opener, rawWires, request } from "../fixtures/raw.js";

for (const wire of rawWires) {
  describe(`lifecycle on ${wire.name}`, () => {
    const open = opener(wire.open);
    const opening = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "0" } };

    test("before initialized there is only ping", async () => {
      const raw = open();
      raw.send(request(1, "ping"), request(2, "tools/list"), request(3, "logging/setLevel", { level: "info" }));
      expect(await raw.response(1)).toMatchObject({ result: {} });
      for (const id of [2, 3]) expect(await raw.response(id)).toMatchObject({ error: { code: -32602 } });
      raw.send(request(4, "initialize", opening));
      expect(await raw.response(4)).toMatchObject({ result: { protocolVersion: "2025-11-25", serverInfo: { name: "contract" } } });
      raw.send(request(5, "ping"), call(6, "echo", { a: 1 }), request(7, "resources/subscribe", { uri: "test://live" }));
      expect(await raw.response(5)).toMatchObject({ result: {} });
      for (const id of [6, 7]) expect(await raw.response(id)).toMatchObject({ error: { code: -32600 } });
      raw.send(notification("notifications/initialized"), call(8, "echo", { a: 1 }));
      expect(await raw.response(8)).toMatchObject({ result: { structuredContent: { a: 1 } } });
    });

    test("a second initialize is refused, and the session goes on", async () => {
      const raw = open();
      await initialize(raw, "2025-06-18");
      raw.send(request(1, "initialize", opening));
      expect(await raw.response(1)).toMatchObject({ error: { code: -32600, message: expect.stringContaining("already initialised") } });
      raw.send(call(2, "echo", { still: "here" }));
      expect(await raw.response(2)).toMatchObject({ result: { structuredContent: { still: "here" } } });
    });

    test("an initialize that is refused may be made again", async () => {
      const raw = open();
      raw.send(request(1, "initialize", { capabilities: {} }));
      expect(await raw.response(1)).toMatchObject({ error: { code: -32602 } });
      expect(await initialize(raw)).toMatchObject({ protocolVersion: "2025-11-25" });
    });

    test("a legacy result has nothing that its revision does not know", async () => {
      const raw = open();
      const initialized = await initialize(raw);
      for (const member of ["supportedVersions", "resultType", "ttlMs", "cacheScope"]) expect(initialized).not.toHaveProperty(member);
      raw.send(request(1, "resources/list"), call(2, "echo"), request(3, "server/discover"), request(4, "subscriptions/listen"));
      for (const id of [1, 2]) {
        const result = (await raw.response(id))["result"];
        for (const member of ["resultType", "ttlMs", "cacheScope", "_meta"]) expect(result).not.toHaveProperty(member);
      }
      for (const id of [3, 4]) expect(await raw.response(id)).toMatchObject({ error: { code: -32601 } });
    });

    test("a server of the modern era alone names its versions to initialize", async () => {
      const raw = open({ eras: ["modern"] });
      raw.send(request(1, "initialize", opening), request(2, "ping"), request(3, "tools/list"));
      expect(await raw.response(1)).toMatchObject({
        error: { code: -32022, data: { supported: ["2026-07-28"], requested: "2025-11-25" } },
      });
      for (const id of [2, 3]) expect(await raw.response(id)).toMatchObject({ error: { code: -32602 } });
    });

    test("a server of the legacy era alone does not know discover", async () => {
      const raw = open({ eras: ["legacy"] });
      raw.send(request(1, "server/discover", { _meta: envelope() }));
      expect(await raw.response(1)).toMatchObject({ error: { code: -32601 } });
      await initialize(raw);
      raw.send(request(2, "tools/call", { name: "echo", arguments: {}, _meta: envelope() }));
      expect(await raw.response(2)).toMatchObject({ result: { structuredContent: {} } });
    });

    test("setLevel takes the levels there are and no other", async () => {
      const raw = open();
      await initialize(raw);
      const bad = ["loud", "", 3, null, "Debug", "toString"];
      raw.send(...bad.map((level, at) => request(at, "logging/setLevel", { level })), request("none", "logging/setLevel"));
      for (const id of [...bad.keys(), "none"]) expect(await raw.response(id)).toMatchObject({ error: { code: -32602 } });
      raw.send(request("good", "logging/setLevel", { level: "error" }), call("logs", "logs"));
      expect(await raw.response("good")).toMatchObject({ result: {} });
      await raw.response("logs");
      expect(raw.heard.filter(({ method }) => method === "notifications/message")).toEqual([]);
    });
  });
}
