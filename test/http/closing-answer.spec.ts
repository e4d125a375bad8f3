import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/api/index.js";

it("reports nothing if it closes while its answer to a question is still being posted", async () => {
  let stream: ServerResponse | undefined;
  let answered = (): void => {};
  const answering = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const say = (message: object): void => void stream?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  const server = createServer(async (request, response) => {
    if (request.method === "GET") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: /post\n\n");
      return;
    }
    const { id, method, params } = JSON.parse((await request.toArray()).join("")) as {
      id?: number;
      method?: string;
      params?: { protocolVersion: string };
    };
    // The answer to the question: this POST gets none.
    if (method === undefined) return answered();
    response.writeHead(202).end();
    if (method === "initialize")
      say({ id, result: { protocolVersion: params?.protocolVersion, capabilities: {}, serverInfo: { name: "raw", version: "0" } } });
    else if (method === "notifications/initialized") say({ id: "question", method: "roots/list" });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const faults: unknown[] = [];
  const client = await connect(`sse+http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`, {
    era: "legacy",
    roots: () => [],
    onFault: (fault) => faults.push(fault),
  });
  await answering;
  await client.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(faults).toEqual([]);
});
