import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, it } from "vitest";
import * as api from "../../src/api/index.js";
import type { Incoming, OutgoingMessage } from "../../src/codec/index.js";
import { withEnvelopeMembers } from "../../src/core/index.js";
import { type Link, sharedStream } from "../../src/era/index.js";
import { clientTransport, type SdkMessage } from "../../src/sdk/index.js";
import { linkTransport } from "../../src/sdk/link-transport.js";
import { pipe } from "../../src/stream/index.js";
import { labAnywire } from "../fixtures/sdk/lab.mjs";
import { clientInfo, openV1, openV2 } from "./clients.js";
import { poll } from "./suite.js";

const lab = () => labAnywire(api);
const server = fileURLToPath(new URL("../fixtures/sdk/lab-server.mjs", import.meta.url));
const clients = { v1: openV1, "v2 legacy": openV2("legacy"), "v2 modern": openV2({ pin: "2026-07-28" }) };

interface Scripted {
  readonly link: Link;
  readonly sent: OutgoingMessage[];
  give(...messages: Incoming[]): void;
  break(fault: api.Fault): void;
  /** The id of the request with this method, once it was sent. */
  id(method: string): Promise<string | number>;
}

/** A link whose peer is the test. */
function scripted(): Scripted {
  const incoming = pipe<readonly Incoming[]>();
  const sent: OutgoingMessage[] = [];
  const find = (method: string) => sent.find((message) => "method" in message && message.method === method);
  return {
    sent,
    give: (...messages) => void incoming.offer(messages),
    break: (fault) => incoming.fail(fault),
    async id(method) {
      await poll(() => find(method)).toBeDefined();
      return (find(method) as { id: string | number }).id;
    },
    link: {
      ...sharedStream,
      incoming,
      backlog: 0,
      send: async (message) => void sent.push(message as OutgoingMessage),
      close: async () => void (await incoming.return()),
    },
  };
}

describe("the transport of a link", () => {
  it("keeps progress that arrives together with its result", async () => {
    for (const open of [openV1, openV2("legacy")]) {
      const peer = scripted();
      const opening = open(linkTransport(peer.link));
      const value = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
      peer.give({ kind: "result", id: await peer.id("initialize"), value });
      const client = await opening;
      const seen: unknown[] = [];
      const call = client.request("tools/list", {}, { onProgress: ({ progress }) => seen.push(progress) });
      const id = await peer.id("tools/list");
      const notes = Array.from({ length: 20 }, (_, progress) => ({ progressToken: id, progress }));
      // The SDK forgets whose progress it is as soon as it sees the result.
      peer.give(...notes.map((params): Incoming => ({ kind: "notification", method: "notifications/progress", params })), {
        kind: "result",
        id,
        value: { tools: [] },
      });
      await call;
      expect(seen).toEqual(Array.from({ length: 20 }, (_, at) => at));
      expect(client.errors).toEqual([]);
      await client.close();
    }
  });

  it("passes messages as they are, ids with their type, and params only where there are some", async () => {
    const peer = scripted();
    const transport = linkTransport(peer.link);
    const got: SdkMessage[] = [];
    transport.onmessage = (message) => got.push(message);
    await transport.start();
    const { noParams } = await import("../../src/codec/index.js");
    peer.give(
      { kind: "request", id: "1", method: "a", params: { x: null } },
      { kind: "request", id: 1, method: "b", params: noParams },
      { kind: "notification", method: "c", params: withEnvelopeMembers({}, { more: 1 }) },
      { kind: "error", error: { code: -1, message: "m", data: [] } },
      { kind: "result", id: "listen:3", value: {} },
    );
    await expect
      .poll(() => got.map((message) => JSON.parse(JSON.stringify(message))))
      .toEqual([
        { jsonrpc: "2.0", id: "1", method: "a", params: { x: null } },
        { jsonrpc: "2.0", id: 1, method: "b" },
        { jsonrpc: "2.0", method: "c", params: {}, more: 1 },
        { jsonrpc: "2.0", error: { code: -1, message: "m", data: [] } },
        { jsonrpc: "2.0", id: "listen:3", result: {} },
      ]);
    await transport.close();
  });

  it("answers with an error where a result is not JSON, because the SDK would not answer at all", async () => {
    const peer = scripted();
    const transport = linkTransport(peer.link);
    await transport.start();
    await transport.send({ jsonrpc: "2.0", id: 7, result: { n: 1n } } as SdkMessage);
    expect(peer.sent).toMatchObject([{ id: 7, error: { code: -32603 } }]);
    await expect(transport.send({ jsonrpc: "2.0", id: 8, method: "m", params: { n: 1n } } as SdkMessage)).rejects.toThrow(api.Fault);
    await transport.close();
  });

  it("tells once that it is closed, and why if the link broke", async () => {
    const peer = scripted();
    const transport = linkTransport(peer.link);
    let closed = 0;
    const errors: Error[] = [];
    transport.onclose = () => closed++;
    transport.onerror = (error) => errors.push(error);
    await transport.start();
    await expect(transport.start()).rejects.toThrow("already started");
    peer.break(new api.Fault("unavailable", "cut"));
    await poll(() => closed).toBe(1);
    await transport.close();
    expect([closed, errors.map((error) => error.message)]).toEqual([1, ["cut"]]);
    await expect(transport.send({ jsonrpc: "2.0" })).rejects.toThrow("closed");
  });
});

describe("a client's transport", () => {
  it("takes a service as well as an address, and leaves it open", async () => {
    for (const open of Object.values(clients)) {
      const service = lab();
      for (let round = 0; round < 2; round++) {
        const client = await open(clientTransport(service));
        expect((await client.tool("echo", { round }))["structuredContent"]).toEqual({ round });
        await client.close();
      }
    }
  });

  it("has no session id, so that the handshake is made", () => {
    expect("sessionId" in clientTransport("memory:x")).toBe(false);
  });

  it("fails the connecting client where nothing listens", async () => {
    for (const open of Object.values(clients))
      await expect(open(clientTransport(`memory:${randomUUID()}`))).rejects.toThrow(/nothing listens|offer pinned/);
    await expect(openV1(clientTransport({ command: "/nonexistent/server" }))).rejects.toThrow();
    await expect(openV1(clientTransport("nowhere://"))).rejects.toThrow("no wire");
  });

  it("tells a server that asks who its client is", async () => {
    for (const era of ["legacy", "modern"] as const) {
      const address = `memory:${randomUUID()}`;
      const listener = await api.serve(lab(), address, { eras: [era] });
      for (const open of Object.values(clients)) {
        const client = await open(clientTransport(address));
        expect((await client.tool("whoami"))["structuredContent"]).toMatchObject({ client: clientInfo });
        expect((await client.tool("ask-form"))["structuredContent"]).toMatchObject({ action: "accept" });
        await client.close();
      }
      await listener.close();
    }
  });

  it("ends every call and closes when the server goes, saying why", async () => {
    for (const open of Object.values(clients)) {
      const address = `memory:${randomUUID()}`;
      const listener = await api.serve(lab(), address, { drainMs: 100 });
      const client = await open(clientTransport(address));
      const call = client.tool("wait", { key: "k" });
      const outcome = expect(call).rejects.toThrow();
      await client.tool("echo");
      await listener.close();
      await outcome;
      await client.closed;
      expect(client.errors.map((error) => error.message)).toContain("the peer closed the link");
    }
  });

  it("ends its calls when the child that it started dies", async () => {
    const client = await openV1(clientTransport({ command: process.execPath, args: [server, "v1"] }));
    const waiting = expect(client.tool("wait", { key: "k" })).rejects.toThrow("exited with code 3");
    await expect(client.tool("exit")).rejects.toThrow("exited with code 3");
    await waiting;
    await client.closed;
  });

  it("lets v2 find out the era", async () => {
    for (const eras of [["legacy"], ["modern"], ["legacy", "modern"]] as const) {
      const address = `memory:${randomUUID()}`;
      const listener = await api.serve(lab(), address, { eras });
      const client = await openV2("auto")(clientTransport(address));
      // Whatever the server speaks, the transport speaks both.
      expect(client.era).toBe("modern");
      await client.close();
      await listener.close();
    }
  });

  it("carries the discover result, and extensions that nobody knows", async () => {
    const service = api.createServer({
      name: "n",
      version: "1",
      instructions: "i",
      capabilities: { extensions: { "com.example/x": { a: 1 } } },
    });
    const client = new ClientV2(clientInfo, { versionNegotiation: { mode: "auto" } });
    await client.connect(clientTransport(service));
    expect(client.getInstructions()).toBe("i");
    expect(client.getServerVersion()).toMatchObject({ name: "n", version: "1" });
    expect(client.getServerCapabilities()?.extensions).toMatchObject({ "com.example/x": { a: 1 } });
    await client.close();
  });
});

describe("the SDK's own client and stdio transport", () => {
  it("use a server of the SDK that Anywire serves", async () => {
    const command = { command: process.execPath, args: [server, "v2"] };
    for (const client of [await openV1(new StdioV1(command)), await openV2("auto")(new StdioV2(command))]) {
      expect((await client.tool("echo", { a: 1 }))["structuredContent"]).toEqual({ a: 1 });
      expect((await client.tool("ask-form"))["structuredContent"]).toEqual({ action: "accept", content: { name: "Ada" } });
      await client.close();
    }
  });
});
