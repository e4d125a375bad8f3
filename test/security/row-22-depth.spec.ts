import { afterEach, describe, expect, test } from "vitest";
import { connect, createServer, type JsonObject, type McpClient, note, serve } from "../../src/api/index.js";
import { fixture } from "../fixtures/children/index.js";
import { nobodyLeft } from "../fixtures/processes.js";
import { call, initialize, opener, rawStdio } from "../fixtures/raw.js";

const DEPTH = 100_000;

function nested(depth: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
}

describe("22. JSON nested 100,000 deep is an error, and the process lives", () => {
  const opened: McpClient[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((client) => client.close()));
    await nobodyLeft();
  });
  const open = opener(rawStdio);
  const lives = async (client: McpClient): Promise<void> =>
    expect((await client.callTool("echo", { a: 1 })).structuredContent).toEqual({ a: 1 });

  test.each(["[", '{"a":'])("from a client, as lines of %s", async (bracket) => {
    const raw = open();
    await initialize(raw);
    const close = bracket === "[" ? "]" : "}";
    const deep = `${bracket.repeat(DEPTH)}${bracket === "[" ? "" : 1}${close.repeat(DEPTH)}`;
    raw.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"deep":${deep}}}}\n`);
    raw.write(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"deep":${deep}}}}\n`);
    raw.write(`${deep}\n${bracket.repeat(DEPTH)}\n`);
    for (const id of [1, 2])
      expect(await raw.response(id)).toMatchObject({ error: { message: expect.stringContaining("deep"), data: { limit: "depth" } } });
    raw.send(call(3, "echo", { still: "here" }));
    expect(await raw.response(3)).toMatchObject({ result: { structuredContent: { still: "here" } } });
  });

  test("from a server, as lines", async () => {
    const client = await connect(fixture("unruly.mjs"), { era: "legacy", onStderr: () => {} });
    opened.push(client);
    await expect(client.callTool("deep", { depth: DEPTH })).rejects.toMatchObject({ code: "overload", data: { limit: "depth" } });
    await lives(client);
  });

  test.each(["legacy", "modern"] as const)("from our own caller, on stdio (%s)", async (era) => {
    const client = await connect(fixture("../secured.mjs"), { era });
    opened.push(client);
    await expect(client.callTool("echo", nested(DEPTH))).rejects.toMatchObject({
      name: "Fault",
      code: "overload",
      data: { limit: "depth" },
    });
    await lives(client);
  });

  // Nothing is made or read there, so that nothing can be too deep; what counts bytes must not fall over it.
  test.each(["legacy", "modern"] as const)("on memory it passes as it is (%s)", async (era) => {
    const server = createServer({ name: "deep", version: "1" })
      .tool("echo", {}, (args) => ({ content: [], structuredContent: args }))
      .tool("flood", {}, async function* () {
        for (let at = 0; at < 10; at++) yield note("notifications/com.example/deep", { at, deep: nested(DEPTH) });
        return "flooded";
      });
    const listener = await serve(server, `memory:deep-${era}`);
    const client = await connect(`memory:deep-${era}`, { era });
    opened.push(client);
    const echoes = await Promise.all(Array.from({ length: 20 }, () => client.callTool("echo", nested(DEPTH))));
    for (const { structuredContent } of echoes) {
      let depth = 0;
      for (let level = structuredContent as JsonObject; level["a"] !== undefined; level = level["a"] as JsonObject) depth++;
      if (depth !== DEPTH) throw new Error(`it came back ${depth} deep`);
    }
    let notes = 0;
    for await (const event of client.streamTool("flood")) if (event.kind === "note") notes++;
    expect(notes).toBe(10);
    await lives(client);
    await client.close();
    await listener.close();
  });
});
