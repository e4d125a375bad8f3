// A relay that listens on its own standard streams: its arguments are what it dials, and how, as JSON.
import { serve, wireFor } from "../../dist/api/index.js";

const [address, dial, listen] = process.argv.slice(2).map((text) => JSON.parse(text));
const wire = await wireFor(address);
const upstream = await wire.dial(address, dial);
const listener = await serve(upstream, "stdio:", listen);
await Promise.race([upstream.closed, listener.closed]);
process.exit(0);
