import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { type AddressInfo, connect as connectTcp } from "node:net";
import * as grpc from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { connect, createServer, type Fault, serve } from "../../src/api/index.js";

it("many answers that wait for one SSE client to read are no reason for a warning", async () => {
  const warnings: string[] = [];
  const warned = (warning: Error): void => void warnings.push(warning.message);
  process.on("warning", warned);
  let called = 0;
  const server = createServer({ name: "x", version: "1" }).tool("big", {}, () => {
    called++;
    return "x".repeat(512 * 1024);
  });
  const listener = await serve(server, "sse+http://127.0.0.1:0", { drainMs: 0, limits: { backlogBytes: 64 * 1024 * 1024 } });
  const url = new URL(listener.address.replace(/^sse\+/, ""));
  const socket = connectTcp(Number(url.port), "127.0.0.1");
  socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAccept: text/event-stream\r\n\r\n`);
  let head = "";
  while (!/data: \S+\n/.test(head)) head += String((await once(socket, "data"))[0]);
  const path = /data: (\S+)/.exec(head)?.[1] as string;
  const post = (message: object): Promise<Response> =>
    fetch(new URL(path, url), { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(message) });
  const params = { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "raw", version: "0" } };
  await post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  socket.pause();
  for (let id = 1; id <= 40; id++) await post({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "big", arguments: {} } });
  while (called < 40) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  await listener.close();
  process.off("warning", warned);
  expect(warnings).toEqual([]);
});

/** A modern server over HTTP that answers every call with an error. */
async function refusing(status: number): Promise<{ url: string } & AsyncDisposable> {
  const peer = createHttp((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const { id, method } = JSON.parse(text) as { id: number; method: string };
      const found = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, resultType: "complete" };
      const discover = method === "server/discover";
      const outcome = discover ? { result: found } : { error: { code: -32011, message: "no", data: { a: 1 } } };
      response.writeHead(discover ? 200 : status, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
    });
  });
  await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(peer.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      peer.closeAllConnections();
      await new Promise((resolve) => peer.close(resolve));
    },
  };
}

it.each([200, 400, 404, 429, 502])("an error that answers a call, with HTTP %i, is that call's alone", async (status) => {
  await using peer = await refusing(status);
  const faults: Fault[] = [];
  await using client = await connect(peer.url, { onFault: (fault) => void faults.push(fault) });
  await expect(client.callTool("t")).rejects.toMatchObject({ rpcCode: -32011, message: "no", data: { a: 1 } });
  expect(faults).toEqual([]);
});

it("an error that answers an RPC of a grpc-js server is that call's alone", async () => {
  const server = new grpc.Server();
  const pass = (bytes: Buffer): Buffer => bytes;
  const rpc = (name: string): grpc.MethodDefinition<Buffer, Buffer> => ({
    path: `/mcp.v1.McpService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: pass,
    requestDeserialize: pass,
    responseSerialize: pass,
    responseDeserialize: pass,
  });
  server.addService(
    { Ping: rpc("Ping"), Initialize: rpc("Initialize"), CallTool: rpc("CallTool") },
    {
      Ping: (_call: unknown, answer: grpc.sendUnaryData<Buffer>) => answer(null, Buffer.alloc(0)),
      // protocol_version = 1
      Initialize: (_call: unknown, answer: grpc.sendUnaryData<Buffer>) => answer(null, Buffer.from("\n\n2025-11-25")),
      CallTool: (_call: unknown, answer: grpc.sendUnaryData<Buffer>) => answer({ code: grpc.status.NOT_FOUND, details: "no such tool" }),
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  const faults: Fault[] = [];
  const client = await connect(`grpc://127.0.0.1:${port}`, { era: "legacy", onFault: (fault) => void faults.push(fault) });
  await expect(client.callTool("t")).rejects.toMatchObject({ code: "not-found", message: "no such tool" });
  expect(faults).toEqual([]);
  await client.close();
  server.forceShutdown();
});
