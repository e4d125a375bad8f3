// A bridge in a process of its own: its argument has the options, as JSON.
import { bridge } from "../../dist/bridge/index.js";

const made = await bridge(JSON.parse(process.argv[2]));
for (const { address } of made.listeners) process.send?.(address);
await made.closed;
