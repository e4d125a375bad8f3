// An McpServer of the official SDK, as you have it, on any wire of Anywire: here stdio, or the address given.
import { McpServer } from "@modelcontextprotocol/server";
import { serveSdk } from "anywire/sdk";
import { z } from "zod";

function makeServer() {
  const server = new McpServer({ name: "greeter", version: "1.0.0" });
  server.registerTool("greet", { inputSchema: z.object({ name: z.string() }) }, async ({ name }) => ({
    content: [{ type: "text", text: `Hello, ${name}!` }],
  }));
  return server;
}

await serveSdk(makeServer, process.argv[2] ?? "stdio:");
