/**
 * An echo server on one wire, in a process of its own. Arguments: the package's entry, as a URL, and the address. Says where it is, and
 * answers each message with the milliseconds of processor time that it has used so far.
 */
import type * as Anywire from "anywire";

const [entry, address] = process.argv.slice(2) as [string, string];
const { createServer, serve } = (await import(entry)) as typeof Anywire;
const server = createServer({ name: "bench", version: "1.0.0" }).tool("echo", {}, ({ text }) => text as string);
const listener = await serve(server, address);
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.((user + system) / 1000);
});
process.once("disconnect", () => void listener.close());
process.send?.(listener.address);
