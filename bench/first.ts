import { connect, createServer, type McpClient, serve } from "anywire";
import { child } from "./child.js";
import { atMost, type Bench, type Outcome } from "./figure.js";
import { MANY } from "./sizes.js";
import { benchTool } from "./tools.js";

/** How many tools the server has made when the client has read the first of many. */
export const first: Bench = { name: "first", run };

async function run(): Promise<Outcome> {
  const counts = { stdio: await onStdio(), memory: await onMemory() };
  const name = (wire: string): string => `tools made when the first of ${MANY.toLocaleString("en-US")} is read, ${wire}`;
  return { figures: [atMost(name("stdio"), counts.stdio, 2000, ""), atMost(name("memory"), counts.memory, 65, "")], notes: [] };
}

async function onStdio(): Promise<number> {
  await using client = await connect(child("anywire", "many"));
  return await madeAtFirst(client, async () => Number(textOf(await client.callTool("made"))));
}

async function onMemory(): Promise<number> {
  let made = 0;
  const server = createServer({ name: "bench", version: "1.0.0" }).tools({
    async *list() {
      for (let at = 0; at < MANY; at++) {
        made++;
        yield benchTool(at);
      }
    },
    call: () => undefined,
  });
  await using _listener = await serve(server, "memory:bench-first");
  await using client = await connect("memory:bench-first");
  return await madeAtFirst(client, () => Promise.resolve(made));
}

/** Asks while the list is open: what was made meanwhile counts too, so the figure is never too small. */
export async function madeAtFirst(client: McpClient, count: () => Promise<number>): Promise<number> {
  const tools = client.tools();
  const { value } = await tools.next();
  if (value === undefined) throw new Error("the list is empty");
  const made = await count();
  await tools.return();
  return made;
}

export function textOf(result: { readonly content: readonly unknown[] }): string {
  return (result.content[0] as { readonly text: string }).text;
}
