import { fileURLToPath } from "node:url";
import { bridge } from "../../dist/bridge/index.js";
import { hops } from "./hops.mjs";

// Two bridges in front of a server: HTTP → bridge → a wire → bridge → HTTP. node bridges.mjs WIRE URL; ends with the process that started it.
const [name, server] = process.argv.slice(2);
const { listen, dial, speaks } = hops[name];
const onFault = (fault) => process.stderr.write(`${fault.code}: ${fault.message}\n`);
const behind = { listen: [listen], to: server };

/** The bridge behind: a child of the one before it, where the wire lives on a process's streams. */
async function openBehind() {
  const script = fileURLToPath(new URL("bridge.mjs", import.meta.url));
  if (speaks !== undefined) return { command: process.execPath, args: [script, JSON.stringify(behind)], speaks };
  const made = await bridge({ ...behind, onFault });
  return made.listeners[0].address;
}

const made = await bridge({
  listen: ["http://127.0.0.1:0/mcp"],
  to: await openBehind(),
  dial,
  serve: { pollMs: 500 },
  onFault,
});
process.once("disconnect", async () => {
  await made.close();
  process.exit(0);
});
process.send(made.listeners[0].address);
