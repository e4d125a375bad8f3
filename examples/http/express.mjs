import { nodeHandler } from "anywire/wires/http";
import express from "express";
import { exampleServer, runIfMain } from "./server.mjs";

/** Express, behind its own JSON parser: the handler takes the body that was parsed. */
export async function start(port = 8000) {
  const mcp = nodeHandler(exampleServer());
  const app = express();
  app.use(express.json());
  app.get("/", (_request, response) => void response.type("text").send("hello\n"));
  app.all("/mcp", mcp);
  const server = await new Promise((resolve) => {
    const listening = app.listen(port, "127.0.0.1", () => resolve(listening));
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
