import { describe, expect, test, vi } from "vitest";
import {
  Caller,
  Canceller,
  type Connection,
  type Context,
  createClient,
  type Fault,
  type JsonObject,
  type Service,
} from "../../src/core/index.js";
import { patience } from "../fixtures/children/index.js";
import { initialize, notification, opener, rawMemory } from "../fixtures/raw.js";
import { calls, upstreams } from "../fixtures/upstream.js";

const able = { client: { capabilities: { elicitation: {} } } };
function context(connection: Connection): Context {
  const { era, protocolVersion } = connection;
  return {
    client: { identity: new Caller(), era, protocolVersion, capabilities: {} },
    cancel: new Canceller(),
    progress: true,
    metadata: {},
  };
}

describe("a legacy server that floods", () => {
  const dial = upstreams();

  test("a call with questions that it does not read: that call alone fails, and every question is answered", async () => {
    const callBytes = 10_000;
    const { server, connection, answer } = await dial({ ...able, limits: { callBytes } });
    const replies = connection.call({ method: "tools/call", params: { name: "slow" } }, context(connection));
    const first = replies.next();
    await server.hear(calls("slow"));
    const count = 50;
    for (let id = 0; id < count; id++)
      server.send({ jsonrpc: "2.0", id: `q${id}`, method: "elicitation/create", params: { message: "x".repeat(1_000) } });
    expect((await first).value).toMatchObject({ kind: "ask" });
    for (let id = 0; id < count; id++) expect(await server.response(`q${id}`)).toMatchObject({ error: expect.any(Object) });
    await expect(replies.next()).rejects.toMatchObject({ code: "overload", data: { limit: "callBytes", max: callBytes } });
    const neighbour = connection.call({ method: "tools/call", params: { name: "fine" } }, context(connection));
    const reply = neighbour.next();
    await answer(calls("fine"), { content: [] });
    expect((await reply).value).toMatchObject({ kind: "result" });
  });

  test("a client with questions that it does not answer: those above the limit are refused", async () => {
    const inFlight = 20;
    const { server, connection } = await dial({ ...able, limits: { inFlight } });
    const asked: string[] = [];
    const client = await createClient(connection, {
      elicit: ({ message }) => {
        asked.push(message);
        return new Promise(() => {});
      },
    });
    for (let id = 0; id < 50; id++) server.send({ jsonrpc: "2.0", id, method: "elicitation/create", params: { message: `${id}` } });
    for (let id = inFlight; id < 50; id++)
      expect(await server.response(id)).toMatchObject({ error: { code: -32000, data: { limit: "inFlight", max: inFlight } } });
    expect(asked).toHaveLength(inFlight);
    server.send({ jsonrpc: "2.0", id: "ping", method: "ping" });
    expect(await server.response("ping")).toMatchObject({ result: {} });
    await client.close();
  });

  test("a subscription with changes that it does not read: each is told once, too many end it alone", async () => {
    const callBytes = 5_000;
    const { server, connection, heard } = await dial({ limits: { callBytes } });
    const client = await createClient(connection);
    const slow = client.listen({ resourceSubscriptions: ["test://slow"], toolsListChanged: true });
    const quick = client.listen({ toolsListChanged: true });
    const acknowledged = Promise.all([slow.next(), quick.next()]);
    await vi.waitFor(() => expect(heard("resources/subscribe")).toHaveLength(1), patience);
    server.send({ jsonrpc: "2.0", id: heard("resources/subscribe")[0]?.["id"] as number, result: {} });
    await acknowledged;
    const updated = (uri: string): JsonObject => notification("notifications/resources/updated", { uri });
    for (let at = 0; at < 10_000; at++) server.send(updated("test://slow"), updated(`test://slow/${at % 3}`));
    server.send({ jsonrpc: "2.0", id: "done", method: "ping" });
    await server.response("done");
    const seen = [await slow.next(), await slow.next(), await slow.next(), await slow.next()].map(({ value }) => value?.params["uri"]);
    expect(new Set(seen)).toEqual(new Set(["test://slow", "test://slow/0", "test://slow/1", "test://slow/2"]));
    for (let at = 0; at < 1_000; at++) server.send(updated(`test://slow/part-${at}`));
    server.send(notification("notifications/tools/list_changed"));
    expect((await quick.next()).value).toMatchObject({ method: "notifications/tools/list_changed" });
    const fault = await (async () => {
      for await (const _ of slow);
    })().catch((error: Fault) => error);
    expect(fault).toMatchObject({ code: "overload", data: { limit: "callBytes", max: callBytes } });
    await client.close();
  });
});

describe("a client that floods", () => {
  const open = opener((service: Service) => rawMemory(service));

  test("an upstream that does not take its notifications holds up that client, not memory", async () => {
    let taken = 0;
    let release: () => void = () => {};
    const stalled: Service = {
      call: (request, inner) => service.call(request, inner),
      notify: ({ method }) => {
        if (method !== "notifications/flood") return Promise.resolve();
        taken++;
        return new Promise((resolve) => {
          release = resolve;
        });
      },
    };
    const { connection: service } = await dial();
    const raw = open(stalled);
    await initialize(raw);
    for (let at = 0; at < 500; at++) raw.send(notification("notifications/flood", { at }));
    await vi.waitFor(() => expect(taken).toBe(1), patience);
    for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBe(1);
    release();
    await vi.waitFor(() => expect(taken).toBe(2), patience);
    await raw.close();
    release();
  });
  const dial = upstreams();
});
