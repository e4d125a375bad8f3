import { nodeHandler } from "anywire/wires/http";
import fastify from "fastify";
import { exampleServer, runIfMain } from "./server.mjs";

/** Fastify: the endpoint is a plugin of its own, in which bodies are left unread for the handler. */
export async function start(port = 8000) {
  const mcp = nodeHandler(exampleServer());
  const app = fastify();
  app.get("/", () => "hello\n");
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.route({
      method: ["GET", "POST", "DELETE", "OPTIONS"],
      url: "/mcp",
      handler(request, reply) {
        reply.hijack();
        mcp(request.raw, reply.raw);
      },
    });
  });
  await app.listen({ port, host: "127.0.0.1" });
  return {
    port: app.server.address().port,
    async close() {
      mcp.close();
      await app.close();
    },
  };
}

await runIfMain(import.meta.url, start);
