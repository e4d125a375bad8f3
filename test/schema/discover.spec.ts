import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect, createServer, type McpClient, serve, wireFor } from "../../src/api/index.js";
import { layered } from "../../src/core/index.js";
import { catalogueTokens, type ProgressiveOptions, progressive, tokenizer } from "../../src/schema/index.js";
import { root } from "./support.js";

let count = 0;

/** A client of a server with `tools` generated tools, behind the layer. */
async function generated(tools: number, options: ProgressiveOptions = {}): Promise<McpClient> {
  const server = createServer({ name: "many", version: "1" });
  for (let index = 0; index < tools; index++)
    server.tool(
      `invoice_${index}`,
      {
        description: `Makes invoice number ${index}. More words follow here.`,
        input: {
          type: "object",
          properties: { amount: { type: "number", description: "How much it is, in the currency of the account." } },
        },
      },
      ({ amount }) => `paid ${String(amount)}`,
    );
  server.tool("weatherReport", { description: "Tells the weather.\n\nIn detail.", input: { type: "object" } }, () => "rain");
  const listener = await serve(layered(server, progressive(options)), `memory:progressive-${++count}`);
  const client = await connect(listener.address);
  onTestFinished(async () => {
    await client.close();
    await listener.close();
  });
  return client;
}

const textOf = (result: object): string[] =>
  ((result as { readonly content: unknown }).content as { readonly text: string }[]).map(({ text }) => text);
async function listOf(client: McpClient): Promise<{ readonly name: string; readonly description?: string }[]> {
  const tools = [];
  for await (const tool of client.tools()) tools.push(tool);
  return tools;
}

describe("progressive discovery", () => {
  it("shows the official client an index of server-everything, describes its tools, and lets it call them", async () => {
    const command = { command: process.execPath, args: [join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")] };
    const link = await (await wireFor(command)).dial(command, { onStderr: () => {} });
    const listener = await serve(layered(link, progressive()), "http://127.0.0.1:0/mcp");
    const client = new Client({ name: "official", version: "1" });
    onTestFinished(async () => {
      await client.close();
      await listener.close();
      await link.close();
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(listener.address)));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["describe_tools", "search_tools"]);
    expect(tools[0]?.description).toMatch(/\necho: Echoes back/);
    const described = textOf(await client.callTool({ name: "describe_tools", arguments: { names: ["echo", "nothing"] } }));
    expect(JSON.parse(described[0] ?? "")).toMatchObject({ name: "echo", inputSchema: { properties: { message: { type: "string" } } } });
    expect(described[1]).toBe("There is no tool nothing.");
    expect(textOf(await client.callTool({ name: "search_tools", arguments: { query: "add two numbers" } }))[0]).toMatch(/^get-sum: /);
    expect(textOf(await client.callTool({ name: "echo", arguments: { message: "hi" } }))).toEqual(["Echo: hi"]);
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0);
  });

  it("costs a fifth of the full list or less, with three tools described", async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [
        `option${index}`,
        { type: "string", description: "An option that is described in a sentence of a usual length, as they are." },
      ]),
    );
    const tools = Array.from({ length: 60 }, (_, index) => ({
      name: `tool_${index}`,
      description: "Does what it is for. And has more to say about that.",
      inputSchema: { type: "object", properties },
    }));
    for (const encoding of ["cl100k_base", "o200k_base"] as const) {
      const { tokens } = catalogueTokens(tools, "real", await tokenizer(encoding));
      expect(tokens.progressive3 / tokens.json).toBeLessThan(0.2);
      expect(tokens.names).toBeLessThan(tokens.index);
      expect(tokens.index).toBeLessThan(tokens.signatures);
      expect(tokens.signatures).toBeLessThan(tokens.described);
    }
  });

  it("keeps the index within bounds, whatever the number of tools", async () => {
    const client = await generated(5_000, { indexCharacters: 2_000 });
    const [describe] = await listOf(client);
    expect(describe?.description?.length).toBeLessThan(2_300);
    expect(describe?.description).toMatch(/… and 49\d\d more: find them with search_tools\.$/);
    expect(textOf(await client.callTool("search_tools", { query: "weather" }))).toEqual(["weatherReport: Tells the weather."]);
    expect(textOf(await client.callTool("search_tools", { query: "invoice" }))[0]?.split("\n").length).toBe(20);
    expect(textOf(await client.callTool("invoice_4999", { amount: 3 }))).toEqual(["paid 3"]);
  });

  it("has a third tool for clients that call listed tools alone", async () => {
    const client = await generated(3, { callName: "call_tool" });
    expect((await listOf(client)).map(({ name }) => name)).toEqual(["describe_tools", "search_tools", "call_tool"]);
    expect(textOf(await client.callTool("call_tool", { name: "invoice_2", arguments: { amount: 7 } }))).toEqual(["paid 7"]);
    expect(await client.callTool("call_tool", { name: "nothing" }).catch((error: Error) => error.message)).toMatch(/nothing/);
  });

  it("answers wrong questions with what is wrong, and a name of the server's own with a fault", async () => {
    const client = await generated(1);
    expect(await client.callTool("search_tools", {})).toMatchObject({ isError: true });
    expect(await client.callTool("describe_tools", { names: [] })).toMatchObject({ isError: true });
    expect(await client.callTool("describe_tools", { names: Array.from({ length: 21 }, String) })).toMatchObject({ isError: true });
    expect(await client.callTool("describe_tools", { names: ["constructor"] })).toMatchObject({ isError: true });
    const taken = await generated(1, { searchName: "weatherReport" });
    await expect(listOf(taken)).rejects.toThrow(/the server has a tool weatherReport too/);
  });
});
