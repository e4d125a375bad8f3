import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { field, wideSession } from "../../bench/hostile/http2.js";
import { serve } from "../../src/api/index.js";
import { sample } from "../grpc/peers.js";
import { unary } from "./bounded.js";

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

describe("a small message of protobuf that would be a large value", () => {
  /** The list of so many elements, as the argument `text`. */
  const listed = (element: Buffer, count: number): Buffer => {
    const elements = Buffer.alloc(element.length * count, element);
    return field(2, field(1, Buffer.concat([field(1, "text"), field(2, field(6, elements))])));
  };

  it.each([
    ["empty objects of a Struct", listed(field(1, field(5, "")), 2_500_000)],
    ["empty arrays of a Struct", listed(field(1, field(6, "")), 2_500_000)],
    ["JSON in a field", field(102, `{"text":[${"[],".repeat(1_500_000)}1]}`)],
  ])("%s: it is refused, and names the limit", async (_what, args) => {
    const server = sample();
    await using listener = await serve(server, "grpc://127.0.0.1:0");
    const session = await wideSession(Number(new URL(listener.address.replace("grpc:", "http:")).port));
    const bomb = gzipSync(Buffer.concat([field(1, "echo"), args]));
    expect(bomb.length).toBeLessThan(100_000);
    const answer = await unary(session, "CallTool", bomb, { headers: { "grpc-encoding": "gzip" }, compressed: true });
    expect(answer).toMatchObject({ status: "8", message: "the message holds too many values" });
    expect(server.calls).toEqual([]);
    session.destroy();
  });
});
