import { describe, expect, it } from "vitest";
import { connect, serve } from "../../src/api/index.js";
import { type Bridge, bridge } from "../../src/bridge/index.js";
import { contractService } from "../../src/contract/index.js";
import { bridged } from "../matrix/contract.js";
import { type WireName, wireNames, wireOf } from "../matrix/wires.js";

// One client and one call for each listen and each upstream. `npm run matrix` has the whole contract on every pair of them.
const pairs: readonly (readonly [WireName, WireName])[] = wireNames.map((listen, at) => {
  const upstreams = wireNames.filter((name) => name !== "any");
  return [listen, upstreams[(at + 3) % upstreams.length] as WireName];
});

describe.each(pairs)("a bridge that listens on %s and dials %s", (listen, upstream) => {
  it("carries a call, its progress and a question", async () => {
    const client = wireOf(listen).eras[0] ?? "modern";
    const server = wireOf(upstream).eras.at(-1) ?? "legacy";
    const asked = await bridged({ hops: [listen, upstream], client, server }).open({
      elicit: ({ message }) => ({ action: "accept", content: { name: String(message) } }),
    });
    try {
      const seen: number[] = [];
      const { structuredContent } = await asked.callTool("ask-form", {}, { onProgress: ({ progress }) => seen.push(progress) });
      expect(structuredContent).toMatchObject({ action: "accept", content: { name: "Who?" } });
      expect(seen).toEqual([1, 2]);
    } finally {
      await asked.close();
    }
  });
});

it("one port has every wire", async () => {
  const to = "memory:smoke";
  await using _server = await serve(contractService(), to);
  await using made: Bridge = await bridge({ listen: ["any://127.0.0.1:0"], to });
  const at = String(made.listeners[0]?.address).replace("any:", "");
  for (const address of [
    `http:${at}/mcp`,
    `sse+http:${at}/sse`,
    `ws:${at}/mcp`,
    `grpc:${at}`,
    `tunnel+grpc:${at}`,
    `tcp:${at}`,
    `proto+tcp:${at}`,
    `proto+ws:${at}/proto`,
    `proto+grpc:${at}`,
  ]) {
    await using client = await connect(address);
    expect((await client.callTool("echo", { address })).structuredContent).toEqual({ address });
  }
});
