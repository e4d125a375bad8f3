// An McpServer of the official SDK on gRPC. Only the transport is new.
import { McpServer } from "@modelcontextprotocol/server";
import { GrpcServerTransport } from "anywire/sdk";
import { z } from "zod";

const server = new McpServer({ name: "greeter", version: "1.0.0" });
server.registerTool("greet", { inputSchema: z.object({ name: z.string() }) }, async ({ name }) => ({
  content: [{ type: "text", text: `Hello, ${name}!` }],
}));

const transport = new GrpcServerTransport(process.argv[2] ?? "grpc://127.0.0.1:50051");
await server.connect(transport);
console.log(`MCP server at ${transport.address}`);
console.log(`Try it in a second terminal: node examples/grpc/client.mjs ${transport.address}`);
