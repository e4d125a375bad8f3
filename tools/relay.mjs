// Relays between peers that know nothing of Anywire, and what of their messages does not arrive as it was sent; see test/relay.
// --hops stdio,http,ws  --era legacy  --count MESSAGES  --seed N  --minutes N  --examples DIR (of the specification's schema)
// --bridge: bridges in place of relays  --wires: each wire with itself  --pairs: every pair of wires  --corpus DIR (of JSON files that hold `tools`)
import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const server = await createServer({
  root,
  configFile: false,
  appType: "custom",
  logLevel: "error",
  server: { middlewareMode: true, ws: false, watch: null },
});
const { wide } = await server.ssrLoadModule("/test/relay/wide.ts");
process.exit(await wide(process.argv.slice(2)));
