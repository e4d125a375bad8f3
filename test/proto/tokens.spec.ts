import { create, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import { connect, createServer, type ServeOptions, serve } from "../../src/api/index.js";
import { bridge } from "../../src/bridge/index.js";
import { MCPMessageSchema, MCPService } from "../../src/codec/gen/buf/mcp/v1/mcp_pb.js";
import { baseClient, baseServer, framed, initialize } from "./base-peer.js";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
});
const kept = <T extends AsyncDisposable>(each: T): T => {
  open.push(each);
  return each;
};

const tokens: Readonly<Record<string, string>> = { good: "ada", again: "ada", other: "bob" };
const auth = {
  verify: (token: string) => (tokens[token] === undefined ? undefined : { id: tokens[token] }),
  tokenHeader: "x-api-key",
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Serves a tool that notes who called it, and what it could see of the call. */
async function serving(address: string, options: ServeOptions = { auth }) {
  const ran: { principal: string | undefined; seen: string }[] = [];
  const server = createServer({ name: "noting", version: "1.0.0" }).tool("note", {}, (_args, { client, metadata, request }) => {
    ran.push({ principal: client.identity.principal, seen: JSON.stringify([metadata, request]) });
    return "noted";
  });
  return { ran, listener: kept(await serve(server, address, options)) };
}

const refused = { payload: { case: "errorResponse", value: { code: -32000, message: "the call needs valid credentials" } } };
const answered = { payload: { case: "callToolResponse", value: { result: { case: "success" } } } };

describe("a token in the metadata of a request", () => {
  for (const address of ["proto+tcp://127.0.0.1:0", "any://127.0.0.1:0"]) {
    it(`lets a client of the base in at ${address}, and nobody without one`, async () => {
      const { ran, listener } = await serving(address);
      const client = await baseClient(listener.address);
      client.send(1n, "initializeRequest", initialize);
      expect(await client.next()).toMatchObject({ id: 1n, ...refused });
      client.send(2n, "listToolsRequest", {});
      expect(await client.next()).toMatchObject({ id: 2n, ...refused });
      for (const metadata of [{}, bearer("bad"), { authorization: "good" }]) {
        client.send(3n, "callToolRequest", { name: "note", metadata });
        expect(await client.next()).toMatchObject({ id: 3n, ...refused });
      }
      expect(ran).toEqual([]);
      client.send(4n, "initializeRequest", { ...initialize, metadata: { ...initialize.metadata, ...bearer("good") } });
      expect(await client.next()).toMatchObject({ id: 4n, payload: { case: "initializeResponse" } });
      const shown: readonly object[] = [{}, bearer("good"), { Authorization: "Bearer again" }, { "x-api-key": "good" }];
      for (const metadata of shown) {
        client.send(5n, "callToolRequest", { name: "note", metadata: { trace_id: "t", ...metadata } });
        expect(await client.next()).toMatchObject({ id: 5n, ...answered });
      }
      expect(ran.map(({ principal }) => principal)).toEqual(shown.map(() => "ada"));
      expect(JSON.stringify(ran)).not.toMatch(/good|again/);
      expect(JSON.stringify(ran)).toContain("trace_id");
      client.send(6n, "callToolRequest", { name: "note", metadata: bearer("bad") });
      expect(await client.next()).toMatchObject({ id: 6n, ...refused });
      client.send(7n, "callToolRequest", { name: "note", metadata: bearer("other") });
      expect(await client.next()).toMatchObject({ id: 7n, payload: { case: "errorResponse" } });
      expect(ran).toHaveLength(shown.length);
      client.socket.destroy();
    });
  }

  it("is what a client of ours shows on a stream, in both eras", async () => {
    const { ran, listener } = await serving("proto+tcp://127.0.0.1:0");
    for (const era of ["legacy", "modern"] as const) {
      const client = kept(await connect(listener.address, { era, headers: bearer("good") }));
      expect(await client.callTool("note", {}, { meta: { k: "v" } })).toMatchObject({ content: [{ text: "noted" }] });
    }
    expect(ran.map(({ principal }) => principal)).toEqual(["ada", "ada"]);
    expect(JSON.stringify(ran)).not.toContain("good");
    expect(ran.every(({ seen }) => seen.includes('"k":"v"'))).toBe(true);
    await expect(connect(listener.address, { headers: bearer("bad") })).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("is shown to a server of the base where its messages have metadata", async () => {
    const seen: unknown[] = [];
    const { server, address } = await baseServer(({ payload: { case: name, value } }) => {
      seen.push([name, (value["metadata"] as Record<string, string> | undefined)?.["authorization"]]);
      if (name === "initializeRequest") return { case: "initializeResponse", value: { protocolVersion: "1.0.0" } };
      if (name === "listToolsRequest") return { case: "listToolsResponse", value: { tools: [{ name: "any" }] } };
      return { case: "callToolResponse", value: { result: { case: "success", value: {} } } };
    });
    const client = kept(await connect(address, { headers: bearer("good") }));
    await client.listTools();
    await client.callTool("any");
    expect(seen).toEqual([
      ["initializeRequest", "Bearer good"],
      ["listToolsRequest", undefined],
      ["callToolRequest", "Bearer good"],
    ]);
    server.close();
  });

  it("may be in the first request of a peer of 1.3, beside its name", async () => {
    const { ran, listener } = await serving("proto+tcp://127.0.0.1:0");
    const client = await baseClient(listener.address);
    const first = (id: bigint, metadata: Record<string, string>): void => {
      const value = { protocolVersion: "1.3.0", metadata: { name: "raw", ...metadata }, mcpVersion: "2025-11-25" };
      client.socket.write(
        framed(toBinary(MCPMessageSchema, create(MCPMessageSchema, { id, payload: { case: "initializeRequest", value } }))),
      );
    };
    first(1n, bearer("bad"));
    expect(await client.next()).toMatchObject({ id: 1n, ...refused });
    first(2n, bearer("good"));
    expect(await client.next()).toMatchObject({ id: 2n, payload: { case: "initializeResponse" } });
    expect(ran).toEqual([]);
    client.socket.destroy();
  });

  it("stays at a bridge, whether or not anybody checks it there", async () => {
    const { ran, listener } = await serving("proto+tcp://127.0.0.1:0", {});
    const made = await bridge({ listen: ["proto+tcp://127.0.0.1:0"], to: listener.address });
    const client = await baseClient(made.listeners[0]?.address as string);
    client.send(1n, "initializeRequest", initialize);
    await client.next();
    client.send(2n, "callToolRequest", { name: "note", metadata: { ...bearer("secret"), k: "v" } });
    expect(await client.next()).toMatchObject({ id: 2n, ...answered });
    expect(ran).toHaveLength(1);
    expect(JSON.stringify(ran)).not.toContain("secret");
    client.socket.destroy();
    await made.close();
  });

  it("is good in a unary RPC that has none in its headers, and must be that of the headers where they have one", async () => {
    const { ran, listener } = await serving("proto+grpc://127.0.0.1:0");
    const transport = createGrpcTransport({ baseUrl: listener.address.replace("proto+grpc", "http"), idleConnectionTimeoutMs: 50 });
    const client = createClient(MCPService, transport);
    const called = (metadata: Record<string, string>, headers: Record<string, string> = {}) =>
      client.callTool({ name: "note", metadata }, { headers }).then(
        ({ result }) => result.case,
        ({ code }: { code: number }) => code,
      );
    expect(await called(bearer("bad"))).toBe(16);
    expect(await called({})).toBe(16);
    expect(await called(bearer("other"), bearer("good"))).toBe(7);
    expect(await called(bearer("bad"), bearer("good"))).toBe(16);
    expect(ran).toEqual([]);
    expect(await called(bearer("good"))).toBe("success");
    expect(await called(bearer("again"), bearer("good"))).toBe("success");
    expect(ran.map(({ principal }) => principal)).toEqual(["ada", "ada"]);
    expect(JSON.stringify(ran)).not.toMatch(/good|again/);
  });

  it("must be that of the connection on WebSocket, which shows one when it opens", async () => {
    const { ran, listener } = await serving("proto+ws://127.0.0.1:0");
    const client = kept(await connect(listener.address, { headers: bearer("good") }));
    await expect(client.callTool("note", {}, { meta: bearer("bad") })).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(client.callTool("note", {}, { meta: bearer("other") })).rejects.toMatchObject({ code: "denied" });
    expect(ran).toEqual([]);
    await client.callTool("note", {}, { meta: bearer("again") });
    expect(ran).toMatchObject([{ principal: "ada" }]);
    expect(JSON.stringify(ran)).not.toContain("again");
  });

  it("ends the connection when it is no longer valid, and one that shows none is closed", async () => {
    let valid = true;
    const watched = { verify: () => (valid ? { id: "ada" } : undefined), recheckMs: 20 };
    const { listener } = await serving("proto+tcp://127.0.0.1:0", { auth: watched, headersMs: 200 });
    const client = await baseClient(listener.address);
    client.send(1n, "initializeRequest", { ...initialize, metadata: bearer("x") });
    expect(await client.next()).toMatchObject({ payload: { case: "initializeResponse" } });
    valid = false;
    expect(await client.next()).toBeUndefined();
    const silent = await baseClient(listener.address);
    silent.send(1n, "initializeRequest", initialize);
    expect(await silent.next()).toMatchObject(refused);
    expect(await silent.next()).toBeUndefined();
  });
});
