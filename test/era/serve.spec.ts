import { describe, expect, it } from "vitest";
import type { Incoming, Outgoing } from "../../src/codec/index.js";
import { AMBIENT, createServer, type JsonObject, meta, once, resultOf, type Service } from "../../src/core/index.js";
import { type Link, serveLink, sharedStream } from "../../src/era/index.js";
import { until } from "../calls.js";
import { gate } from "../support/peer.js";
import { initialized, modern, notification, raw, request, served } from "./raw.js";

describe("a batch", () => {
  it("is answered once, whatever becomes of calls that only share an id with it", async () => {
    const go = gate();
    let waiting = 0;
    const server = createServer({ name: "s", version: "1" }).tool("wait", {}, async (_args, { cancel }) => {
      waiting++;
      await Promise.race([go, new Promise<void>((resolve) => cancel.on(resolve))]);
      return "done";
    });
    const client = raw(served(server).link);
    await initialized(client, {}, "2025-03-26");
    await client.send(request(1, "tools/call", { name: "wait" }));
    await until(() => waiting === 1);
    const call = (id: number) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "wait" } }) as const;
    await client.send([call(1), call(2), call(3)]);
    await until(() => waiting === 3);
    await client.send(notification("notifications/cancelled", { requestId: 1 }));
    await client.send(notification("notifications/cancelled", { requestId: 3 }));
    await client.send(request("ping", "ping"));
    await client.answer("ping");
    expect(client.batches).toEqual([]);
    go.open();
    await client.answer(2);
    expect(client.batches.map(({ messages }) => messages.map((message) => "id" in message && message.id))).toEqual([[1, 2]]);
    await client.link.close();
  });
});

describe("a service that does not say who it is", () => {
  it("answers without its name where that cannot be found out", async () => {
    const service: Service = {
      call: ({ method }, context) =>
        once(context, () => (method === "server/discover" ? new Promise(() => {}) : { content: [], resultType: "complete" })),
      notify: () => Promise.resolve(),
    };
    const client = raw(served(service).link);
    await client.send(modern(1, "tools/call", { name: "x" }));
    expect(await client.answer(1)).toMatchObject({ kind: "result", value: { content: [] } });
    await client.link.close();
  });
});

describe("a session whose opening takes its time", () => {
  function slow(): { service: Service; go: () => void; cancelled: () => boolean } {
    const go = gate();
    let cancelled = false;
    const server = createServer({ name: "s", version: "1" }).tool("echo", {}, () => "hello");
    const service: Service = {
      call: (message, context) =>
        message.method === "server/discover"
          ? once(context, async (inner) => {
              inner.cancel.on(() => {
                cancelled = true;
              });
              await go;
              return resultOf(server.call(message, inner));
            })
          : server.call(message, context),
      notify: (message, context) => server.notify(message, context),
    };
    return { service, go: () => go.open(), cancelled: () => cancelled };
  }
  const initialize = request("init", "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw" } });

  it("holds up neither modern requests nor the end of the link", async () => {
    const { service, cancelled } = slow();
    const { link, ended } = served(service);
    const client = raw(link);
    await client.send(initialize);
    await client.send(modern(1, "tools/call", { name: "echo" }));
    expect(await client.answer(1)).toMatchObject({ kind: "result" });
    await client.send(notification("notifications/initialized"));
    await client.send(request(2, "tools/list"));
    await link.close();
    await ended;
    expect(cancelled()).toBe(true);
  });

  it("answers what was sent meanwhile in its order, once it is open", async () => {
    const { service, go } = slow();
    const client = raw(served(service).link);
    await client.send(initialize);
    await client.send(notification("notifications/initialized"));
    await client.send(request(1, "tools/call", { name: "echo" }));
    await client.send(request(2, "initialize", { protocolVersion: "2025-11-25" }));
    go();
    expect(await client.answer("init")).toMatchObject({ kind: "result", value: { serverInfo: { name: "s" } } });
    expect(await client.answer(1)).toMatchObject({ kind: "result" });
    expect(await client.answer(2)).toMatchObject({ kind: "error", error: { code: -32600 } });
    await client.link.close();
  });

  it("keeps only so much of what was sent meanwhile", async () => {
    const { service, go } = slow();
    const client = raw(served(service).link);
    await client.send(initialize);
    for (let id = 0; id < 1_000; id++) await client.send(request(id, "tools/call", { name: "echo" }));
    expect(await client.answer(999)).toMatchObject({ kind: "error", error: { code: -32000, data: { limit: "opening" } } });
    go();
    expect(await client.answer(0)).toMatchObject({ kind: "error", error: { code: -32600 } });
    await client.link.close();
  });
});

describe("a client that sends everything at once and closes its side", () => {
  it("gets the answers to all of it, those of its session too", async () => {
    const server = createServer({ name: "s", version: "1" }).resource({ uri: "x:", name: "x" }, () => "x");
    const sent: Outgoing[] = [];
    const messages: Incoming[] = [
      { kind: "request", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {} } },
      { kind: "notification", method: "notifications/initialized", params: {} },
      { kind: "request", id: 2, method: "resources/subscribe", params: { uri: "x:" } },
    ];
    const link: Link = {
      ...sharedStream,
      incoming: (async function* () {
        yield messages;
      })(),
      send: async (message) => void sent.push(message),
      backlog: 0,
      close: () => Promise.resolve(),
    };
    await serveLink(server, link);
    const answered = sent.flatMap((message) => ("result" in message ? [message.id] : []));
    expect(answered.sort()).toEqual([1, 2]);
  });
});

describe("what a link does not mix up", () => {
  it("a cursor of one list and another list", async () => {
    const server = createServer({ name: "s", version: "1" });
    for (let at = 0; at < 5; at++) {
      server.tool(`tool-${at}`, {}, () => "");
      server.prompt(`prompt-${at}`, {}, () => "");
    }
    const client = raw(served(server, { pageSize: 2 }).link);
    await client.send(modern(1, "tools/list"));
    const { value } = (await client.answer(1)) as { value: JsonObject };
    await client.send(modern(2, "prompts/list", { cursor: value["nextCursor"] }));
    expect(await client.answer(2)).toMatchObject({ kind: "error", error: { code: -32602 } });
    // The list it belongs to still goes on.
    await client.send(modern(3, "tools/list", { cursor: value["nextCursor"] }));
    expect(await client.answer(3)).toMatchObject({ kind: "result", value: { tools: [{ name: "tool-2" }, { name: "tool-3" }] } });
    await client.link.close();
  });

  it("calls of a client and the edge's own background call", async () => {
    const client = raw(served(createServer({ name: "s", version: "1" })).link);
    await client.send(modern(1, AMBIENT));
    expect(await client.answer(1)).toMatchObject({ kind: "error", error: { code: -32601 } });
    await initialized(client);
    await client.send(request(2, AMBIENT));
    expect(await client.answer(2)).toMatchObject({ kind: "error", error: { code: -32601 } });
    await client.link.close();
  });

  it("the senders of notifications, where a session and modern requests share the link", async () => {
    const eras: string[] = [];
    const server = createServer({ name: "s", version: "1" });
    server.onNotification("*", (_, { client }) => void eras.push(client.era));
    const client = raw(served(server).link);
    await initialized(client);
    await client.send(notification("notifications/x"));
    await client.send(notification("notifications/x", { _meta: { [meta.protocolVersion]: "2026-07-28", [meta.clientCapabilities]: {} } }));
    await until(() => eras.length === 2);
    expect(eras).toEqual(["legacy", "modern"]);
    await client.link.close();
  });

  it("a listener of faults that throws, and the link it is told about", async () => {
    const uncaught: unknown[] = [];
    const before = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", (error) => uncaught.push(error));
    try {
      const server = createServer({ name: "s", version: "1" });
      const { link } = served(server, {
        onFault: () => {
          throw new Error("the listener's own");
        },
      });
      const client = raw(link);
      await client.send({ jsonrpc: "2.0", id: 9, result: {} });
      await client.send(modern(1, "server/discover"));
      expect(await client.answer(1)).toMatchObject({ kind: "result" });
      await until(() => uncaught.length === 1);
      await link.close();
    } finally {
      process.removeAllListeners("uncaughtException");
      for (const listener of before) process.on("uncaughtException", listener);
    }
  });
});
