import { createServer, layered, type Server, type Service } from "../api/index.js";
import { addAsks } from "./asks.js";
import { addClock } from "./clock.js";
import { addContents } from "./contents.js";
import { manyTools } from "./many-tools.js";
import { addPrompts } from "./prompts.js";
import { addResources } from "./resources.js";
import { addTools } from "./tools.js";

export interface DemoOptions {
  /** How many generated tools are listed after the others. */
  readonly manyTools?: number | undefined;
}

/** A server that shows every kind of thing MCP has, each in its smallest form. */
export function demoServer(options: DemoOptions = {}): Service {
  const server: Server = createServer({
    name: "anywire-demo",
    title: "Anywire demo",
    version: "0.1.0",
    instructions:
      "Try count for progress, greet for a question, stream-logs for logs, demo://clock for a resource that changes, and demo://generated/1gb for one that is made as it is read.",
  });
  addTools(server);
  addAsks(server);
  addContents(server);
  addResources(server);
  addPrompts(server);
  if (options.manyTools !== undefined) server.tools(manyTools(options.manyTools));
  return layered(server, addClock(server));
}
