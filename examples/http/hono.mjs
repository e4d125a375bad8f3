import { serve } from "@hono/node-server";
import { fetchHandler } from "anywire/wires/http";
import { Hono } from "hono";
import { exampleServer, runIfMain } from "./server.mjs";

/** Hono: the endpoint is a Fetch handler, here on Node, elsewhere on any runtime with Fetch. */
export async function start(port = 8000) {
  const mcp = fetchHandler(exampleServer());
  const app = new Hono();
  app.get("/", (c) => c.text("hello\n"));
  app.all("/mcp", (c) => mcp(c.req.raw));
  const server = await new Promise((resolve) => {
    const listening = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, () => resolve(listening));
  });
  return {
    port: server.address().port,
    async close() {
      mcp.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

await runIfMain(import.meta.url, start);
