// An McpServer of the official SDK, as you have it, over gRPC: one line more.
import { McpServer } from "@modelcontextprotocol/server";
import { GrpcServerTransport } from "anywire/sdk";
import { z } from "zod";

const server = new McpServer({ name: "greeter", version: "1.0.0" });
server.registerTool("greet", { inputSchema: z.object({ name: z.string() }) }, async ({ name }) => ({
  content: [{ type: "text", text: `Hello, ${name}!` }],
}));

const transport = new GrpcServerTransport(process.argv[2] ?? "grpc://127.0.0.1:50051");
await server.connect(transport);
console.log(transport.address);
