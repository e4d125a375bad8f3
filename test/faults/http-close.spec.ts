import { createServer as createHttp } from "node:http";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { expect, it } from "vitest";
import { connect, createServer, progress, serve } from "../../src/api/index.js";
import { begin, events, modern, open, postModern, type Rpc, until } from "../http/requests.js";

const schemes = ["http", "sse+http", "ws"];

it.each(schemes)("closing the listener of %s ends open calls on both sides", async (scheme) => {
  const at = await open({ drainMs: 0 }, scheme);
  const client = await connect(at.listener.address);
  const call = client.callTool("wait", { key: "x" }).catch((error: { data: unknown }) => error.data);
  await until(() => at.waiting.has("x"));
  await at.listener.close();
  expect(await call).toEqual({ reason: "closing" });
  await until(() => !at.waiting.has("x"));
  await at.listener.closed;
  await client.close();
});

it.each(schemes)("closing the client of %s fails its calls and ends them at the server", async (scheme) => {
  await using at = await open({}, scheme);
  const client = await connect(at.listener.address);
  const calls = ["a", "b"].map((key) => client.callTool("wait", { key }).catch((error: { code: string }) => error.code));
  await until(() => at.waiting.size === 2);
  await client.close();
  expect(await Promise.all(calls)).toEqual(["unavailable", "unavailable"]);
  await until(() => at.waiting.size === 0);
});

it("tells those who wait how it ends: a subscription well, a call with an error, a session's streams by their end", async () => {
  const at = await open({ drainMs: 0 });
  const listening = events(await postModern(at.url, modern("s", "subscriptions/listen", { notifications: { toolsListChanged: true } })));
  expect((await listening.next()).value?.message?.method).toBe("notifications/subscriptions/acknowledged");
  const waiting = postModern(at.url, modern("w", "tools/call", { name: "wait", arguments: { key: "w" } }));
  const session = await begin(at.url);
  const general = await fetch(at.url, { headers: { ...session, accept: "text/event-stream" } });
  await until(() => at.waiting.has("w"));
  await at.listener.close();
  const last = (await listening.next()).value?.message;
  expect(last).toMatchObject({ id: "s", result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": "s" } } });
  expect((await listening.next()).done).toBe(true);
  expect(((await (await waiting).json()) as Rpc).error).toMatchObject({ code: -31003, data: { reason: "closing" } });
  expect(await general.text()).toBe("");
});

it.each(schemes)("gives up on a server of %s that accepts and says nothing", async (scheme) => {
  const silent = createTcp(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = `${scheme}://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`;
  await expect(connect(address, { handshakeMs: 100 })).rejects.toMatchObject({ name: "Fault" });
  const abort = new AbortController();
  const dialing = connect(address, { signal: abort.signal });
  setTimeout(() => abort.abort(), 20);
  await expect(dialing).rejects.toMatchObject({ code: "cancelled" });
  silent.close();
});

it("begins a session again that its server has forgotten, once for all who find it gone", async () => {
  const server = createServer({ name: "x", version: "1" }).tool("echo", {}, (args) => ({ content: [], structuredContent: args }));
  const first = await serve(server, "http://127.0.0.1:0");
  const client = await connect(first.address, { era: "legacy" });
  await first.close();
  let begun = 0;
  const counted = createServer({ name: "x", version: "1" }).tool("echo", {}, (args) => ({ content: [], structuredContent: args }));
  await using second = await serve(
    {
      notify: (notification, context) => counted.notify(notification, context),
      call(request, context) {
        if (request.method === "server/discover") begun++;
        return counted.call(request, context);
      },
    },
    first.address,
  );
  expect(second.address).toBe(first.address);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => client.callTool("echo", { n })));
  expect(answers.map(({ structuredContent }) => structuredContent)).toEqual(Array.from({ length: 20 }, (_, n) => ({ n })));
  expect(begun).toBe(1);
  await client.close();
});

it("fails a call whose answer breaks off where it cannot be resumed, and only that", async () => {
  const peer = createHttp((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: { name?: string } };
      if (params.name === "breaks") {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(": begun\n\n");
        setTimeout(() => response.destroy(), 10);
        return;
      }
      const found = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, resultType: "complete" };
      const result = method === "server/discover" ? found : { content: [], resultType: "complete" };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
  const client = await connect(`http://127.0.0.1:${(peer.address() as AddressInfo).port}/mcp`);
  await expect(client.callTool("breaks")).rejects.toMatchObject({ code: "unavailable" });
  expect((await client.callTool("works")).content).toEqual([]);
  await client.close();
  peer.closeAllConnections();
  peer.close();
});

it.each(schemes)("a client of %s that stops reading holds up its own call, and nobody else", async (scheme) => {
  let made = 0;
  const server = createServer({ name: "x", version: "1" })
    .tool("flood", {}, async function* () {
      for (; made < 50_000; made++) yield progress(made, 50_000, "x".repeat(1_000));
      return "done";
    })
    .tool("echo", {}, (args) => ({ content: [], structuredContent: args }));
  await using listener = await serve(server, `${scheme}://127.0.0.1:0`);
  const era = scheme === "sse+http" ? "legacy" : "auto";
  await using slow = await connect(listener.address, { era });
  await using quick = await connect(listener.address, { era });
  for await (const event of slow.streamTool("flood")) {
    expect(event.kind).toBe("progress");
    for (let before = -1; before !== made; ) {
      before = made;
      for (let n = 0; n < 10; n++) expect((await quick.callTool("echo", { n })).structuredContent).toEqual({ n });
    }
    expect(made).toBeLessThan(25_000);
    break;
  }
});

it("a legacy client that cancels lets go of the stream too", async () => {
  await using at = await open();
  await using client = await connect(at.url, { era: "legacy" });
  for (let round = 0; round < 20; round++) {
    const abort = new AbortController();
    const call = client.callTool("wait", { key: "c" }, { signal: abort.signal }).catch((error: { code: string }) => error.code);
    await until(() => at.waiting.has("c"));
    abort.abort();
    expect(await call).toBe("cancelled");
    await until(() => !at.waiting.has("c"));
  }
  expect((await client.callTool("echo", { a: 1 })).structuredContent).toEqual({ a: 1 });
});
