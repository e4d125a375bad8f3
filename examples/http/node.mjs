import { createServer } from "node:http";
import { nodeHandler } from "anywire/wires/http";
import { exampleServer, runIfMain } from "./server.mjs";

/** Plain node:http, with a path of its own beside the endpoint. */
export async function start(port = 8000) {
  const mcp = nodeHandler(exampleServer());
  const app = createServer((request, response) => {
    if (request.url === "/mcp") return mcp(request, response);
    return response.writeHead(200, { "content-type": "text/plain" }).end("hello\n");
  });
  await new Promise((resolve) => app.listen(port, "127.0.0.1", resolve));
  return {
    port: app.address().port,
    async close() {
      mcp.close();
      await new Promise((resolve) => app.close(resolve));
    },
  };
}

await runIfMain(import.meta.url, start);
