import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/api/index.js";
import { LEGACY, type Rpc } from "./requests.js";

test("a call whose stream broke with its session is not looked for in the next one", async () => {
  const sessions = new Set<string>();
  let count = 0;
  const resumed: string[] = [];
  // A raw legacy server. It opens a stream for every GET of a session that it knows, whatever event that names.
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const message = (text === "" ? {} : JSON.parse(text)) as Rpc;
    const session = String(request.headers["mcp-session-id"]);
    const answer = (result: object): void =>
      void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
    if (message.method === "initialize") {
      sessions.add(`session ${++count}`);
      response.setHeader("mcp-session-id", `session ${count}`);
      return answer({ protocolVersion: LEGACY, capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1" } });
    }
    if (!sessions.has(session)) return void response.writeHead(404).end();
    if (request.method === "GET") {
      if (request.headers["last-event-id"] === "of the call") resumed.push(session);
      return void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    }
    if (message.method !== "tools/call") return void response.writeHead(202).end();
    if (message.params?.["name"] === "echo") return answer({ content: [] });
    response.writeHead(200, { "content-type": "text/event-stream" }).write("id: of the call\nretry: 500\ndata: \n\n", () => {
      sessions.clear();
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await using client = await connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, { era: "legacy" });
  const lost = client.callTool("cut").catch((fault: unknown) => fault);
  while (sessions.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  // This call begins another session before the stream is asked for again.
  expect(await client.callTool("echo")).toMatchObject({ content: [] });
  expect(await lost).toMatchObject({ code: "unavailable", data: { reason: "closed" } });
  expect(resumed).toEqual([]);
});
