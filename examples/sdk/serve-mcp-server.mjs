// An McpServer of the official SDK on any wire: on stdio, or at the address that you pass.
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

const { address } = await serveSdk(makeServer, process.argv[2] ?? "stdio:");
// On stdio, stdout carries the messages, so this goes to stderr.
console.error(`MCP server at ${address}`);
