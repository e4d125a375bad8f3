// A bridge on the streams of its own process: its argument has the options, as JSON.
import { bridge } from "../../dist/bridge/index.js";

const made = await bridge(JSON.parse(process.argv[2]));
await made.closed;
