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
