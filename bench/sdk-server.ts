import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { What } from "./pairs.js";
import { BURST } from "./sizes.js";
import { benchTool, TOOLS } from "./tools.js";

/** The official SDK's end of every pair. */
export function sdkServer(what: What): McpServer {
  const server = new McpServer({ name: "bench-sdk", version: "1.0.0" });
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({ content: [{ type: "text", text }] }));
  server.registerTool("burst", {}, async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    for (let at = 1; at <= BURST && progressToken !== undefined; at++)
      await context.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: at, total: BURST } });
    return { content: [{ type: "text", text: "done" }] };
  });
  if (what === "list" || what === "list-zod")
    for (let at = 0; at < TOOLS; at++) {
      const { name, inputSchema, ...rest } = benchTool(at);
      const schema = what === "list" ? fromJsonSchema(inputSchema) : z.fromJSONSchema(inputSchema);
      server.registerTool(name, { ...rest, inputSchema: schema }, () => ({ content: [] }));
    }
  return server;
}
