import { expect, it } from "vitest";
import type { JsonObject } from "../../src/core/index.js";
import { dialLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { rawLink, rawMemory } from "../fixtures/raw.js";

const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1", baggage: "b=2" };
const claims = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": { roots: {} },
  "io.modelcontextprotocol/logLevel": "info",
};
const plain = { ...trace, progressToken: "p", "vendor.example/x": [1, { y: null }] };
const eras = ["modern", "legacy"] as const;

for (const era of eras)
  for (const upstreamEra of eras)
    it(`a notification of a ${era} client keeps its _meta through a relay to a ${upstreamEra} server`, async () => {
      const [mine, theirs] = linkPair();
      const server = rawLink(theirs);
      const dialing = dialLink(mine, { era: upstreamEra });
      const opening = await server.hear(({ id }) => id !== undefined);
      const modern = { supportedVersions: ["2026-07-28"], capabilities: {}, resultType: "complete" };
      const legacy = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "raw", version: "0" } };
      server.send({ jsonrpc: "2.0", id: opening["id"], result: upstreamEra === "modern" ? modern : legacy });
      const upstream = await dialing;
      const client = rawMemory(upstream);
      if (era === "legacy") {
        const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "0" } };
        client.send({ jsonrpc: "2.0", id: 0, method: "initialize", params });
        await client.response(0);
        client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      }
      const meta = era === "modern" ? { ...plain, ...claims } : plain;
      client.send({ jsonrpc: "2.0", method: "notifications/vendor/x", params: { a: 1, _meta: meta } });
      const heard = await server.hear(({ method }) => method === "notifications/vendor/x");
      // What a legacy server does not know of a modern client is left out; everything else is as it was sent.
      const expected = era === "modern" && upstreamEra === "legacy" ? plain : meta;
      expect(JSON.stringify((heard["params"] as JsonObject)["_meta"])).toBe(JSON.stringify(expected));
      await client.close();
      await upstream.close();
    });
