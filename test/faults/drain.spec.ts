import { describe, expect, it } from "vitest";
import { createServer, type Service, serve } from "../../src/api/index.js";
import type { JsonObject } from "../../src/core/index.js";
import { dialLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { rawLink } from "../fixtures/raw.js";
import { fronts } from "./raw-fronts.js";

/** The service that the child of the stdio front runs, too. */
function gated(): { service: Service; entered: () => number; go(): void } {
  let go = (): void => {};
  let entered = 0;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const server = createServer({ name: "drains", version: "1" })
    .tool("gate", {}, async () => {
      entered++;
      await gate;
      return "through";
    })
    .tool("hang", {}, (_args, { signal }) => {
      entered++;
      return new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("left")));
    });
  return { service: server, entered: () => entered, go };
}

const call = (id: number, name: string): JsonObject => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: {} } });
const text = (heard: JsonObject): unknown => ((heard["result"] as JsonObject)?.["content"] as { text: string }[])?.[0]?.text;
const tick = (ms = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(Object.entries(fronts))("closing a listener: %s", (name, open) => {
  it("lets a call in flight finish, refuses new ones, and then ends", async () => {
    const { service, entered, go } = gated();
    const { front, shut } = await open(service, {});
    const slow = front.ask(call(1, "gate"));
    if (name === "stdio") await tick(100);
    else while (entered() < 1) await tick(1);
    const closing = shut();
    // A new call is refused as soon as the listener has begun to close; on a pipe that is in the order of the messages.
    await tick();
    const refused = await front.ask(call(2, "gate"));
    expect(refused["error"]).toMatchObject({ data: { reason: "closing" } });
    expect([-31003, -32000]).toContain((refused["error"] as JsonObject)["code"]);
    if (name.startsWith("http")) expect(refused.status).toBe(503);
    if (name === "stdio") await front.tell({ jsonrpc: "2.0", method: "notifications/vendor/go" });
    else go();
    expect(text(await slow)).toBe("through");
    await closing;
    await front.ended;
    expect(entered()).toBe(name === "stdio" ? 0 : 1);
    front.close();
  });

  it("answers a call that takes too long with the error before it ends", async () => {
    const { service, entered } = gated();
    const { front, shut } = await open(service, { drainMs: 50 });
    const hanging = front.ask(call(1, "hang"));
    if (name === "stdio") await tick(100);
    else while (entered() < 1) await tick(1);
    const began = performance.now();
    await shut();
    expect((await hanging)["error"]).toMatchObject({ data: { reason: "closing" } });
    expect(performance.now() - began).toBeLessThan(3_000);
    await front.ended;
    front.close();
  });
});

describe.each(Object.entries(fronts).filter(([name]) => name !== "stdio"))("the death of a relay's upstream: %s", (_name, open) => {
  it("is the answer to the calls that wait for it", async () => {
    const [mine, theirs] = linkPair();
    const server = rawLink(theirs);
    const dialing = dialLink(mine, { era: "legacy" });
    const { id } = await server.hear(({ method }) => method === "initialize");
    const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "raw", version: "0" } };
    server.send({ jsonrpc: "2.0", id, result });
    const upstream = await dialing;
    const { front, shut } = await open(upstream, {});
    const over = upstream.closed.then(shut);
    const calls = [1, 2, 3].map((each) => front.ask(call(each, "t")));
    while (server.heard.filter(({ method }) => method === "tools/call").length < 3) await tick(1);
    await server.close();
    for (const heard of await Promise.all(calls)) {
      expect(heard["error"]).toMatchObject({ data: { reason: "closed" } });
      expect([-31003, -32000]).toContain((heard["error"] as JsonObject)["code"]);
      expect([undefined, 200]).toContain(heard.status);
    }
    await over;
    await front.ended;
    front.close();
  });
});

it("an SSE listener that closes opens no new streams", async () => {
  const { service, entered, go } = gated();
  const listener = await serve(service, "sse+http://127.0.0.1:0");
  const url = listener.address.replace(/^sse\+/, "");
  const first = await fetch(url);
  const reader = (first.body as ReadableStream<Uint8Array>).getReader();
  const path = /data: (\S+)/.exec(Buffer.from((await reader.read()).value as Uint8Array).toString())?.[1] as string;
  const post = (message: JsonObject): Promise<Response> =>
    fetch(new URL(path, url), { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(message) });
  const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "raw", version: "0" } };
  await post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  await post(call(1, "gate"));
  while (entered() < 1) await tick(1);
  const closing = listener.close();
  const second = await fetch(url);
  expect([second.status, await second.text()]).toEqual([503, "the server is shutting down\n"]);
  go();
  await closing;
  await reader.cancel();
});
