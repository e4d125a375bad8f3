import { afterEach, describe, expect, test } from "vitest";
import { connect, Fault, type JsonObject, type McpClient } from "../../src/api/index.js";
import { fixture } from "../fixtures/children/index.js";
import { nobodyLeft } from "../fixtures/processes.js";

const initialized = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
  serverInfo: { name: "u", version: "1" },
};
const opened: McpClient[] = [];
async function open(answers: JsonObject): Promise<McpClient> {
  const command = fixture("unruly.mjs", JSON.stringify({ initialize: { result: initialized }, ...answers }));
  const client = await connect(command, { era: "legacy", onStderr: () => {} });
  opened.push(client);
  return client;
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.close()));
  await nobodyLeft();
});

/** What a call comes to: its value, or its fault. Never anything else, and never nothing. */
async function outcome(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    return error;
  }
}
async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
const junk: readonly unknown[] = [null, true, 7, "text", [], [[]], {}, [null], [7], ["text"]];

describe("a server whose results have the wrong types", () => {
  const answering = (client: McpClient, method: string, result: JsonObject): Promise<unknown> =>
    client.callTool("script", { method, answer: { result } });

  test("lists that are none are faults, streamed or collected", async () => {
    const client = await open({ "prompts/list": { result: {} } });
    for (const tools of junk.filter((value) => !Array.isArray(value) || value.length > 0)) {
      await answering(client, "tools/list", { tools });
      const outcomes = await Promise.all(
        [client.listTools(), all(client.tools()), client.listPrompts(), all(client.prompts())].map(outcome),
      );
      for (const fault of outcomes) expect(fault).toMatchObject({ code: "invalid-request", message: expect.stringContaining("list") });
    }
    expect((await client.callTool("echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
  });

  test("a cursor that is none ends the list, one that goes round is a fault", async () => {
    const client = await open({});
    for (const nextCursor of [null, 7, {}, []]) {
      await answering(client, "tools/list", { tools: [{ name: "t" }], nextCursor });
      expect(await all(client.tools())).toEqual([{ name: "t" }]);
    }
    await answering(client, "tools/list", { tools: [{ name: "t" }], nextCursor: "again" });
    expect(await outcome(all(client.tools()))).toMatchObject({ code: "invalid-request", message: expect.stringContaining("never ends") });
    expect(await outcome(client.listTools())).toBeInstanceOf(Fault);
  });

  test("contents that are none are faults, whole or in chunks", async () => {
    const client = await open({});
    for (const contents of junk.filter((value) => !(Array.isArray(value) && value.length === 0))) {
      await answering(client, "resources/read", { contents });
      for (const read of [client.readResource("test://x"), all(client.readChunks("test://x"))])
        expect([contents, await outcome(read)]).toMatchObject([contents, { name: "Fault", code: "invalid-request" }]);
    }
    await answering(client, "resources/read", { contents: [{ uri: "test://x", blob: "no base64 at all!" }] });
    expect(await outcome(all(client.readChunks("test://x")))).toMatchObject({ name: "Fault" });
  });

  test("a handshake with odd members is one all the same, without them", async () => {
    for (const odd of [null, 7, "text", []]) {
      const client = await open({
        initialize: { result: { ...initialized, capabilities: odd, serverInfo: odd, instructions: odd === "text" ? 7 : odd } },
      });
      expect(client.server).toMatchObject({ era: "legacy", capabilities: {} });
      expect(client.server.instructions).toBeUndefined();
      expect((await client.callTool("echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
      await client.close();
    }
  });

  test("a handshake that is none is a fault, and nothing is left behind", async () => {
    for (const answer of [{ result: {} }, { result: 5 }, { error: 5 }, {}, { error: { code: 1, message: "no" } }])
      expect(await outcome(open({ initialize: answer }))).toBeInstanceOf(Fault);
  });
});
