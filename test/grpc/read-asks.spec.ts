import { afterEach, describe, expect, it } from "vitest";
import { clientCapabilities, connect, type JsonObject, serve } from "../../src/api/index.js";
import { dialLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { raw } from "../era/raw.js";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const elicit = (): { action: "accept"; content: JsonObject } => ({ action: "accept", content: { n: 7 } });

/** A legacy server by hand, whose read asks before it is answered, behind a relay that listens on gRPC. */
async function relayed(): Promise<string> {
  const [mine, theirs] = linkPair();
  const server = raw(theirs);
  void (async () => {
    const initialize = (await server.find((message) => message.kind === "request")) as { id: number };
    const capabilities = { resources: {}, tools: {} };
    await server.send({
      jsonrpc: "2.0",
      id: initialize.id,
      result: { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "s", version: "1" } },
    });
    for (let seen = 1; ; ) {
      const message = await server.find((each) => server.seen.indexOf(each) >= seen);
      seen = server.seen.indexOf(message) + 1;
      if (message.kind !== "request") continue;
      const { id, method } = message;
      if (method !== "resources/read") {
        await server.send({ jsonrpc: "2.0", id, result: method === "tools/list" ? { tools: [] } : {} });
        continue;
      }
      await server.send({
        jsonrpc: "2.0",
        id: `ask-${id}`,
        method: "elicitation/create",
        params: { message: "how much?", requestedSchema: {} },
      });
      void server.answer(`ask-${id}`).then((answer) => {
        const text = JSON.stringify("value" in answer ? answer.value : answer);
        return server.send({ jsonrpc: "2.0", id, result: { contents: [{ uri: "x:", text }] } });
      });
    }
  })();
  const upstream = await dialLink(mine, { era: "legacy", client: { capabilities: clientCapabilities({ elicit }, "legacy") } });
  closing.push(() => upstream.close());
  const relay = await serve(upstream, "grpc://127.0.0.1:0");
  closing.push(() => relay.close());
  return relay.address;
}

describe.each(["modern", "legacy"] as const)("a read of a legacy server that asks, through a gRPC listener: %s client", (era) => {
  it.each(["whole", "in chunks"])("%s", async (how) => {
    const client = await connect(await relayed(), { era, elicit });
    closing.push(() => client.close());
    let text = "";
    for (let time = 0; time < 3; time++) {
      await client.listTools();
      if (how === "whole") text = String((await client.readResource("x:")).contents[0]?.text);
      else for await (const { data } of client.readChunks("x:")) text = String(data);
      expect(JSON.parse(text)).toEqual({ action: "accept", content: { n: 7 } });
    }
  });
});
