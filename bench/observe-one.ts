/**
 * Echo calls on the memory wire in a process of its own, so that no contender pays for another's garbage or objects. Arguments: the
 * package's entry, and what the observer counts. Answers each order with the milliseconds of processor time, which a busy machine changes little.
 */
import type * as Anywire from "anywire";
import { same } from "./pairs.js";

export type Counts = "nothing" | "calls" | "frames";

const [entry, counts] = process.argv.slice(2) as [string, Counts];
const { connect, createServer, serve } = (await import(entry)) as typeof Anywire;
let told = 0;
const count = (): void => void told++;
const observers: Readonly<Record<Counts, Anywire.Observer | undefined>> = {
  nothing: undefined,
  calls: { call: count },
  frames: { call: count, frame: count },
};
const options = { observe: observers[counts] };
const server = createServer({ name: "bench", version: "1.0.0" }).tool("echo", {}, ({ text }) => text as string);
const listener = await serve(server, "memory:bench", options);
const client = await connect("memory:bench", options);

process.on("message", async (times: number) => {
  const began = process.cpuUsage();
  for (let at = 0; at < times; at++) same((await client.callTool("echo", { text: "hello" })).content[0], "hello");
  const { user, system } = process.cpuUsage(began);
  if (counts !== "nothing" && told === 0) throw new Error("the observer was not told");
  process.send?.((user + system) / 1000);
});
process.once("disconnect", async () => {
  await client.close();
  await listener.close();
});
process.send?.("ready");
