/**
 * Makes many calls on one connection and says what both ends hold after a tenth of them and at the end, in a process of its own.
 * Arguments: the wire, its address for the server, the number of calls.
 */
import { connect, type McpClient } from "anywire";
import { child, listening } from "./child.js";
import { heapHeld } from "./memory.js";
import { WORKERS } from "./sizes.js";

export interface Held {
  readonly client: readonly [number, number];
  readonly server: readonly [number, number];
}

const [address, count] = process.argv.slice(2) as [string, string];

async function open(): Promise<{ client: McpClient; close(): Promise<void> }> {
  if (address === "stdio:") {
    const { command, args } = child("anywire", "plain");
    const client = await connect({ command, args: ["--expose-gc", ...args] });
    return { client, close: () => client.close() };
  }
  const server = await listening("anywire", "plain", address);
  const client = await connect(server.address);
  return {
    client,
    async close() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const { client, close } = await open();

async function calls(times: number): Promise<void> {
  let left = times;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await client.callTool("echo", { text: "hello" });
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
}

async function holding(): Promise<readonly [number, number]> {
  const [block] = (await client.callTool("heap", {})).content;
  return [heapHeld(), Number((block as { readonly text?: string }).text)];
}

const all = Number(count);
await calls(all / 10);
const first = await holding();
await calls(all - all / 10);
const last = await holding();
await close();
const held: Held = { client: [first[0], last[0]], server: [first[1], last[1]] };
console.log(JSON.stringify(held));
