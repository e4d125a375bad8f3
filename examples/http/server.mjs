import { fileURLToPath } from "node:url";
import { createServer, progress } from "anywire";

/** The server that the examples mount. */
export function exampleServer() {
  return createServer({ name: "example", version: "1.0.0" })
    .tool("greet", { description: "Greets someone" }, ({ who }) => `Hello, ${who ?? "world"}!`)
    .tool("count", { description: "Counts, with progress" }, async function* ({ to = 3 }) {
      for (let at = 1; at <= to; at++) yield progress(at, to);
      return `counted to ${to}`;
    });
}

/** Starts an example if its file is the program, on the port given as its argument or on 8000. */
export async function runIfMain(url, start) {
  if (process.argv[1] !== fileURLToPath(url)) return;
  const { port, close } = await start(Number(process.argv[2] ?? 8000));
  console.log(`MCP server at http://127.0.0.1:${port}/mcp`);
  console.log(`Try it in a second terminal: npx anywire call greet who=Ada http://127.0.0.1:${port}/mcp`);
  process.once("SIGINT", close);
  process.once("SIGTERM", close);
}
