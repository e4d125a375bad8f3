import { afterEach, describe, expect, it } from "vitest";
import { type Connection, type JsonObject, resultOf } from "../../src/core/index.js";
import { dialLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { contextOf, faultOf } from "../calls.js";

const initialized = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {}, logging: {}, resources: { subscribe: true } },
  serverInfo: {},
};
const closing: Connection[] = [];
afterEach(async () => {
  for (const connection of closing.splice(0)) await connection.close();
});

/** A legacy server by hand, that answers every call with the call's params; `methods` are those of its calls. */
async function dialed(): Promise<{ connection: Connection; methods: string[] }> {
  const [mine, theirs] = linkPair();
  const methods: string[] = [];
  void (async () => {
    for await (const batch of theirs.incoming) {
      for (const message of batch) {
        if (message.kind !== "request") continue;
        methods.push(message.method);
        const answer = message.method === "initialize" ? initialized : { said: message.params };
        await theirs.send({ jsonrpc: "2.0", id: message.id, result: answer });
      }
    }
  })();
  const connection = await dialLink(mine, { era: "legacy" });
  closing.push(connection);
  methods.splice(0);
  return { connection, methods };
}

const legacy = (): ReturnType<typeof contextOf> => contextOf({ client: { era: "legacy", protocolVersion: "2025-11-25" } });

describe("a modern caller of a legacy server", () => {
  it.each([
    ["tools/call", { name: "x", requestState: "s" }],
    ["resources/read", { uri: "x:", requestState: null }],
  ] as [string, JsonObject][])("goes on with nothing that the server would not know: %s %j", async (method, params) => {
    const { connection, methods } = await dialed();
    const fault = await faultOf(connection, method, params);
    expect(fault).toMatchObject({ code: "invalid-params", message: expect.stringContaining("not valid") });
    expect(methods).toEqual([]);
  });

  it("may send answers that nobody asked for, which the server does not get", async () => {
    const { connection } = await dialed();
    const request = { method: "prompts/get", params: { name: "x", inputResponses: {} } };
    expect(await resultOf(connection.call(request, contextOf()))).toMatchObject({ said: { name: "x" } });
  });

  it.each(["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"])(
    "has no say over the session: %s is unknown",
    async (method) => {
      const { connection, methods } = await dialed();
      expect(await faultOf(connection, method, { level: "debug", uri: "x:" })).toMatchObject({ code: "unknown-method" });
      expect(methods).toEqual([]);
    },
  );

  it("may name members of other methods as it likes", async () => {
    const { connection } = await dialed();
    const params = { requestState: 1, inputResponses: 2 };
    expect(await resultOf(connection.call({ method: "vendor/x", params }, contextOf()))).toMatchObject({ said: params });
  });
});

it("a legacy caller of a legacy server speaks for itself", async () => {
  const { connection, methods } = await dialed();
  await resultOf(connection.call({ method: "ping", params: {} }, legacy()));
  const params = { name: "x", requestState: "mine" };
  expect(await resultOf(connection.call({ method: "tools/call", params }, legacy()))).toEqual({ said: params });
  expect(methods).toEqual(["ping", "tools/call"]);
});
