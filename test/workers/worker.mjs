import { createServer, elicit, progress } from "anywire/core";
import { fetchHandler } from "anywire/wires/http";
import { z } from "zod";

const server = createServer({ name: "worker", version: "1" })
  .tool("count", { input: z.object({ n: z.number() }) }, async function* ({ n }) {
    for (let at = 1; at <= n; at++) yield progress(at, n);
    return "counted";
  })
  .tool("greet", {}, async function* () {
    const { content } = yield* elicit({ message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } });
    return `hello ${content?.name}`;
  })
  .resource({ uri: "test://big", name: "big" }, async function* () {
    for (let at = 0; at < 128; at++) yield new Uint8Array(64 * 1024).fill(7);
  });

/** All requests of a Durable Object share a context, so sessions and questions that wait live in one. */
export class Mcp {
  #handler = fetchHandler(server);

  fetch(request) {
    return this.#handler(request);
  }
}

/** A handler must not be made while the module loads: it starts a timer. */
let alone;

export default {
  fetch(request, env) {
    if (new URL(request.url).pathname === "/mcp") return env.mcp.get(env.mcp.idFromName("all")).fetch(request);
    alone ??= fetchHandler(server, { eras: ["modern"] });
    return alone(request);
  },
};
