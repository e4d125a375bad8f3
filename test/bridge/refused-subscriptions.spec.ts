import { createServer, type ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { begin, post, rpc } from "../http/requests.js";
import { portOf } from "../relay/raw/sockets.js";
import { openBridge } from "./support.js";

const complete = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
const answer = (response: ServerResponse, id: unknown, result: object): void =>
  void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));

test.each<[string, (response: ServerResponse, id: unknown) => void]>([
  ["fails", (response) => void response.writeHead(500).end()],
  ["ends", (response, id) => answer(response, id, complete)],
])("a legacy client is told when its modern server %s every subscription", async (_, listen) => {
  let tried = 0;
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { id, method } = JSON.parse(text) as { id?: number; method: string };
    if (method !== "subscriptions/listen")
      return answer(response, id, { ...complete, supportedVersions: ["2026-07-28"], capabilities: { resources: { subscribe: true } } });
    tried++;
    listen(response, id);
  });
  const to = `http://127.0.0.1:${await portOf(server)}/mcp`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await using made = await openBridge(["http"], { to, waitMs: 300 });
  const url = made.at("http").address;
  const session = await begin(url);
  const subscribe = { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: "test://x" } };
  expect(await rpc(post(url, subscribe, session))).toMatchObject({ id: 1, error: { code: -32000 } });
  expect(tried).toBeGreaterThan(1);
});
