// A relay or a bridge that listens on its own standard streams: its arguments are what it dials, and how, as JSON.
import { serve, wireFor } from "../../dist/api/index.js";
import { bridge } from "../../dist/bridge/index.js";

const [address, dial, listen, between] = process.argv.slice(2).map((text) => JSON.parse(text));

async function relay() {
  const wire = await wireFor(address);
  const upstream = await wire.dial(address, dial);
  const listener = await serve(upstream, "stdio:", listen);
  await Promise.race([upstream.closed, listener.closed]);
}

async function bridged() {
  const { client: _, ...dialed } = dial;
  const made = await bridge({ listen: ["stdio:"], to: address, dial: dialed, serve: listen, sessions: "shared" });
  await made.closed;
}

await (between === "bridge" ? bridged() : relay());
process.exit(0);
