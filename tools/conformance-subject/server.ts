import { createServer, type Server } from "anywire";
import { addAskingTools } from "./asking-tools.js";
import { addPrompts } from "./prompts.js";
import { addResources } from "./resources.js";
import { addStateless } from "./stateless.js";
import { addTools } from "./tools.js";

/** The server that the official conformance suite is run against: what it serves, by name, is the suite's. */
export function conformanceServer(): Server {
  const server = createServer({
    name: "anywire-conformance",
    version: "0.1.0",
    instructions: "Serves what the conformance suite asks for.",
  });
  addTools(server);
  addAskingTools(server);
  addStateless(server);
  addPrompts(server);
  addResources(server);
  return server;
}
