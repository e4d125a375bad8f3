import { create } from "@bufbuild/protobuf";
import { createServer, serve } from "anywire";
import "anywire/typed";
import { messages } from "../typed-messages.js";

function microseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

// A tool of messages on this process's standard streams, in the protocol that the argument names.
const server = createServer({ name: "typed", version: "1" }).tool("search", messages, (message) => {
  const { query, rows = [] } = message as unknown as { query?: string; rows?: unknown[] };
  return create(messages.output, { title: `found ${query}`, rows } as never);
});
server.tool("spent", () => String(microseconds()));
await serve(server, process.argv[2] as string);
