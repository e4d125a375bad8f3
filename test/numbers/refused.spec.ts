import { fileURLToPath } from "node:url";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Connection, connect, createServer, elicit, type Fault, type Service, serve, wireFor } from "../../src/api/index.js";
import { sdkService } from "../../src/sdk/index.js";
import { nobodyLeft } from "../fixtures/processes.js";
import { initialize, LEGACY, modern, modernHeaders, post } from "../http/requests.js";

const odd = '{"id":[0,1234567890123456789]}';
const rawServer = { command: process.execPath, args: [fileURLToPath(new URL("raw-server.mjs", import.meta.url)), odd] };
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(nobodyLeft);

const folder = fileURLToPath(new URL("../fixtures/mcp/base", import.meta.url));
const { McpService } = (
  grpc.loadPackageDefinition(
    loadSync(`${folder}/mcp/v1/mcp.proto`, { keepCase: true, longs: Number, defaults: true, oneofs: true, includeDirs: [folder] }),
  ) as unknown as { mcp: { v1: { McpService: grpc.ServiceClientConstructor } } }
).mcp.v1;

async function served(service: Service, address: string): Promise<string> {
  const listener = await serve(service, address);
  closing.push(() => listener.close());
  return listener.address as string;
}

async function dialed(address: Parameters<typeof wireFor>[0], era: "legacy" | "auto" = "legacy"): Promise<Connection> {
  const connection = await (await wireFor(address)).dial(address, { era });
  closing.push(() => connection.close());
  return connection;
}

/** Calls a tool with the text of its arguments, by hand. */
async function callByHand(url: string, args: string): Promise<string> {
  const body = modern(1, "tools/call", { name: "echo", arguments: "HERE" });
  const response = await post(url, JSON.stringify(body).replace('"HERE"', args), modernHeaders(body));
  return response.text();
}

const refusal = (path: string, number = "1234567890123456789"): string =>
  `${path} is the number ${number}, which JavaScript cannot hold exactly`;

describe("a number that cannot be had is refused, and the place is named", () => {
  it("by a streaming server, which takes -0 as it is", async () => {
    const given: unknown[] = [];
    const server = createServer({ name: "s", version: "1" }).tool("echo", {}, (args) => {
      given.push(args);
      return "ok";
    });
    const url = await served(server, "http://127.0.0.1:0/mcp");
    expect(await callByHand(url, '{"id":1234567890123456789}')).toContain(refusal("params.arguments.id"));
    expect(await callByHand(url, '{"a b":[{"c":1e400}]}')).toContain(refusal('params.arguments[\\"a b\\"][0].c', "1e400"));
    expect(given).toEqual([]);
    expect(await callByHand(url, '{"id":-0,"big":9007199254740992}')).toContain("ok");
    expect(given).toEqual([{ id: -0, big: 2 ** 53 }]);
  });

  it("by a server of the official SDK", async () => {
    const make = (): McpServer => {
      const server = new McpServer({ name: "s", version: "1" });
      server.registerTool("echo", { inputSchema: { id: z.number() } }, ({ id }) => ({ content: [{ type: "text", text: `got ${id}` }] }));
      return server;
    };
    const service = sdkService(make as never);
    const url = await served(service, "http://127.0.0.1:0/mcp");
    expect(await callByHand(url, '{"id":1234567890123456789}')).toContain(refusal("params.arguments.id"));
    expect(await callByHand(url, '{"id":5}')).toContain("got 5");
    const said = JSON.stringify(initialize(LEGACY, { experimental: { x: "HERE" } })).replace('"HERE"', "1234567890123456789");
    expect(await (await post(url, said)).text()).toContain(refusal("params.capabilities.experimental.x"));
    await service.close();
  });

  it("by a client, in results and items; of notifications it is told", async () => {
    const faults: string[] = [];
    const client = await connect(rawServer, { era: "legacy", onFault: ({ message }) => faults.push(message) });
    closing.push(() => client.close());
    const faultOf = (promise: Promise<unknown>): Promise<Fault> =>
      promise.then(
        () => Promise.reject(new Error("no fault")),
        (fault) => fault,
      );
    const heard: unknown[] = [];
    const called = client.callTool("echo", {}, { onProgress: (progress) => heard.push(progress) });
    expect((await faultOf(called)).message).toBe(refusal("result.structuredContent.n.id[1]"));
    expect((await faultOf(client.listTools())).message).toBe(refusal("item.inputSchema.vendor.id[1]"));
    expect(heard).toEqual([]);
    await expect.poll(() => faults).toEqual(expect.arrayContaining([refusal("params.progress"), refusal("params.n.id[1]")]));
    expect(await faultOf(client.callTool("fail", {}))).toMatchObject({ rpcCode: -4, message: "no" });
    await client.ping();
  });

  it("by a handler that asked, of the answer", async () => {
    const server = createServer({ name: "s", version: "1" }).tool("echo", {}, async function* () {
      const answer = yield* elicit({ message: "?", requestedSchema: { type: "object", properties: {} } });
      return `got ${JSON.stringify(answer)}`;
    });
    const url = await served(server, "http://127.0.0.1:0/mcp");
    const ask = modern(1, "tools/call", {
      name: "echo",
      arguments: {},
      _meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } },
    });
    const first = await (await post(url, ask, modernHeaders(ask))).text();
    const { result } = JSON.parse(first.includes("data: ") ? (/data: (.*)/.exec(first)?.[1] as string) : first);
    const params = { ...(ask["params"] as object), requestState: result.requestState, inputResponses: "HERE" };
    const key = Object.keys(result.inputRequests)[0];
    const again = JSON.stringify({ ...ask, params }).replace('"HERE"', `{"${key}":{"action":"accept","content":{"n":1e400}}}`);
    expect(await (await post(url, again, modernHeaders(ask))).text()).toContain(refusal("result.content.n", "1e400"));
  });

  it("to a client of the base of the gRPC service, which has Struct", async () => {
    const address = await served(await dialed(rawServer), "grpc://127.0.0.1:0");
    const client = new McpService(address.slice("grpc://".length), grpc.credentials.createInsecure());
    closing.push(() => client.close());
    const call = (
      method: string,
      request: object,
      metadata = new grpc.Metadata(),
    ): Promise<{ reply?: unknown; error?: grpc.ServiceError; metadata?: grpc.Metadata }> =>
      new Promise((resolve) => {
        let headers: grpc.Metadata | undefined;
        // biome-ignore lint/suspicious/noExplicitAny: methods of a loaded proto have no types
        const made = (client as any)[method](request, metadata, (error: grpc.ServiceError | null, reply: unknown) =>
          resolve(error === null ? { reply, ...(headers === undefined ? {} : { metadata: headers }) } : { error }),
        );
        made.on("metadata", (found: grpc.Metadata) => (headers = found));
      });
    const opened = await call("Initialize", { protocol_version: "2025-11-25", client_info: { name: "c", version: "1" }, capabilities: {} });
    const session = new grpc.Metadata();
    for (const [name, value] of Object.entries(opened.metadata?.getMap() ?? {})) if (name.includes("session")) session.set(name, value);
    const { error } = await call("CallTool", { name: "echo", arguments: { fields: {} } }, session);
    expect(error?.details).toContain(refusal("result.structuredContent.n.id[1]"));
  });

  it("to a server of the base, which has Struct", async () => {
    const calls: unknown[] = [];
    const server = new grpc.Server();
    server.addService(McpService.service, {
      Initialize: (_: unknown, answer: grpc.sendUnaryData<object>) =>
        answer(null, { protocol_version: "2025-11-25", server_info: { name: "base", version: "1" }, capabilities: { tools: {} } }),
      Ping: (_: unknown, answer: grpc.sendUnaryData<object>) => answer(null, {}),
      CallTool: (call: { request: unknown }, answer: grpc.sendUnaryData<object>) => {
        calls.push(call.request);
        answer(null, { result: { content: [{ text: { text: "called" } }] }, content: [{ text: { text: "called" } }] });
      },
    } as never);
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, at) =>
        error === null ? resolve(at) : reject(error),
      ),
    );
    closing.push(() => server.forceShutdown());
    const url = await served(await dialed(`grpc://127.0.0.1:${port}`), "http://127.0.0.1:0/mcp");
    expect(await callByHand(url, '{"id":1234567890123456789}')).toContain(refusal("params.arguments.id"));
    expect(calls).toEqual([]);
    await callByHand(url, '{"id":-0}');
    expect(calls).toMatchObject([{ arguments: { fields: { id: { numberValue: -0 } } } }]);
  });
});
