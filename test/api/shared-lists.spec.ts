import { expect, it } from "vitest";
import { connect, createServer, serve } from "../../src/api/index.js";

it("what one client of the process does to a tool, prompt or resource that it got changes nothing for another", async () => {
  const server = createServer({ name: "s", version: "1" })
    .tool("t", { description: "tool", inputSchema: { type: "object", properties: { a: { type: "string" } } } }, () => "")
    .prompt("p", { description: "prompt", arguments: { a: {} } }, () => "")
    .resource({ uri: "a:b", name: "r", annotations: { audience: ["user"] } }, () => "");
  await using listener = await serve(server, "memory:shared-lists");
  const lists = async (): Promise<unknown[]> => {
    await using client = await connect(listener.address);
    return [await client.listTools(), await client.listPrompts(), await client.listResources()];
  };
  const deep = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const member of Object.values(value)) deep(member);
    // A list is the client's own, its items are not.
    Reflect.set(value, "description", "changed");
  };
  const before = JSON.stringify(await lists());
  deep(await lists());
  expect(JSON.stringify(await lists())).toBe(before);
});
