import { once } from "node:events";
import { createServer as createHttp, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from "node:net";
import { expect, it } from "vitest";
import { connect } from "../../src/api/index.js";

interface Stranger extends AsyncDisposable {
  readonly port: number;
}

async function stranger(server: Server): Promise<Stranger> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket.on("error", () => {})));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const web = (handler: RequestListener): Promise<Stranger> => stranger(createHttp(handler));

it("a web page is told from an MCP endpoint by its type", async () => {
  await using at = await web((_request, response) => response.setHeader("content-type", "text/html").end("<h1>Hello</h1>"));
  await expect(connect(`http://127.0.0.1:${at.port}/mcp`)).rejects.toMatchObject({
    code: "parse",
    message: "the server's answer is not an MCP message: HTTP 200, text/html",
  });
});

it("a redirect is not followed, and says where to", async () => {
  await using at = await web((_request, response) => response.writeHead(308, { location: "https://example.com/mcp" }).end());
  await expect(connect(`http://127.0.0.1:${at.port}/mcp`)).rejects.toMatchObject({
    code: "unavailable",
    message: "the server answered HTTP 308: it has moved to https://example.com/mcp",
  });
});

it.each(["http", "sse+http", "ws"])("%s to a server of another protocol fails in plain words", async (scheme) => {
  await using at = await stranger(createTcp((socket) => socket.end("SSH-2.0-example\r\n")));
  await expect(connect(`${scheme}://127.0.0.1:${at.port}/mcp`)).rejects.toMatchObject({
    code: "unavailable",
    message: `cannot reach ${scheme.replace("sse+", "")}://127.0.0.1:${at.port}: the server does not speak HTTP`,
  });
});

it.each(["http", "sse+http", "ws", "tcp", "grpc", "tunnel+grpc"])("%s to a server that says nothing is late", async (scheme) => {
  await using at = await stranger(createTcp(() => {}));
  const late = { code: "deadline", data: { limit: "handshakeMs", max: 200 } };
  await expect(connect(`${scheme}://127.0.0.1:${at.port}`, { handshakeMs: 200 })).rejects.toMatchObject(late);
});

it("a Unix socket that is not there is named as such", async () => {
  await expect(connect("grpc+unix:/no/such.sock")).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("there is no such socket"),
  });
});
