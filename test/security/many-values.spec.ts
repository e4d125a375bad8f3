import { describe, expect, it } from "vitest";
import { serve } from "../../src/api/index.js";
import { sample } from "../grpc/peers.js";

const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
const headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "echo",
};

function body(values: string): string {
  const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text: [] }, _meta } });
  return call.replace('"text":[]', `"text":[${values}]`);
}

describe("a small message that would be a large value", () => {
  it.each([
    ["empty arrays", "[],".repeat(1_500_000), "messageValues"],
    ["empty objects", "{},".repeat(1_500_000), "messageValues"],
    ["numbers that have to be kept as text", "-0,".repeat(20_000), "exactNumbers"],
    ["numbers that are too large", "9e999,".repeat(20_000), "exactNumbers"],
  ])("%s: it is refused, and names the limit", async (_what, values, limit) => {
    const server = sample();
    await using listener = await serve(server, "http://127.0.0.1:0/mcp");
    const answer = await fetch(listener.address, { method: "POST", headers, body: body(`${values}1`) });
    expect(await answer.json()).toMatchObject({ id: 1, error: { data: { limit } } });
    expect(server.calls).toEqual([]);
  });

  it("what is large because of its texts is not", async () => {
    await using listener = await serve(sample(), "http://127.0.0.1:0/mcp");
    const answer = await fetch(listener.address, { method: "POST", headers, body: body(`"${"[],{".repeat(1_000_000)}"`) });
    expect(await answer.json()).toMatchObject({ id: 1, result: {} });
  });
});
