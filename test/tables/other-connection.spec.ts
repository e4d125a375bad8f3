import { describe, expect, it, vi } from "vitest";
import { createServer, elicit, type JsonObject, type Server, serve } from "../../src/api/index.js";
import { patience } from "../fixtures/children/index.js";
import { session } from "../relay/raw/grpc.js";
import { tunnel } from "../relay/raw/tunnel.js";
import type { RawWire } from "../relay/raw/types.js";
import { websocket } from "../relay/raw/websocket.js";

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
};

/** A server that asks, and counts how often its tool was run. */
function asking(): Server & { readonly runs: () => number } {
  let runs = 0;
  const server = createServer({ name: "asking", version: "1" }).tool("ask", {}, async function* () {
    const run = ++runs;
    const { content } = yield* elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } });
    return `${run} ${String(content?.["name"])}`;
  });
  return Object.assign(server, { runs: () => runs });
}

interface RawClient {
  call(params: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

async function rawClient(wire: RawWire, address: string): Promise<RawClient> {
  const heard: JsonObject[] = [];
  const client = await wire.client(address, "modern", (text) => void heard.push(JSON.parse(text) as JsonObject));
  let id = 0;
  return {
    async call(params) {
      const mine = ++id;
      client.send(
        JSON.stringify({ jsonrpc: "2.0", id: mine, method: "tools/call", params: { name: "ask", arguments: {}, ...params, _meta } }),
      );
      return vi.waitFor(() => {
        const answer = heard.find((message) => message["id"] === mine && !("method" in message));
        if (answer === undefined) throw new Error("no answer yet");
        return answer;
      }, patience);
    },
    close: () => client.close(),
  };
}

function retryOf({ result }: JsonObject): JsonObject {
  const { inputRequests, requestState } = result as { inputRequests: JsonObject; requestState: string };
  const [key] = Object.keys(inputRequests);
  return { requestState, inputResponses: { [key as string]: { action: "accept", content: { name: "Ada" } } } };
}

const wires: readonly (readonly [string, RawWire, string])[] = [
  ["WebSocket", websocket, "ws://127.0.0.1:0"],
  ["the tunnel", tunnel, "tunnel+grpc://127.0.0.1:0"],
  ["a gRPC Session", session, "grpc://127.0.0.1:0"],
];

describe.each(wires)("a retry on another connection of %s", (_name, wire, place) => {
  it.each([true, false])("goes on with the same call (the first connection is closed: %s)", async (closed) => {
    const server = asking();
    await using listener = await serve(server, place);
    const first = await rawClient(wire, listener.address);
    const required = await first.call({});
    expect(required).toMatchObject({ result: { resultType: "input_required" } });
    if (closed) await first.close();
    const second = await rawClient(wire, listener.address);
    const retry = retryOf(required);
    expect(await second.call(retry)).toMatchObject({ result: { content: [{ type: "text", text: "1 Ada" }] } });
    expect(server.runs()).toBe(1);
    // It is taken once, whoever comes with it.
    expect(await second.call(retry)).toMatchObject({ error: { code: -32602 } });
    expect(server.runs()).toBe(1);
    await second.close();
    if (!closed) await first.close();
  });
});

it("a retry goes on with the same call by another RPC of the same gRPC listener", async () => {
  const server = asking();
  await using listener = await serve(server, "grpc://127.0.0.1:0");
  const first = await rawClient(session, listener.address);
  const required = await first.call({});
  const second = await rawClient(tunnel, listener.address);
  expect(await second.call(retryOf(required))).toMatchObject({ result: { content: [{ type: "text", text: "1 Ada" }] } });
  expect(server.runs()).toBe(1);
  await Promise.all([first.close(), second.close()]);
});
