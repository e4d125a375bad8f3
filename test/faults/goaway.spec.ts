import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import * as grpc from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { connect, type McpClient } from "../../src/api/index.js";
import { authority } from "../fixtures/certificates.js";
import { baseService } from "../grpc/base.js";
import { portOf } from "../relay/raw/sockets.js";

const ROUNDS = 6;
const WIDTH = 20;

/** Calls go on while the server says again and again that it takes no more on this connection. */
async function lost(client: McpClient, goAway: () => void): Promise<unknown[]> {
  const failed: unknown[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const call = (n: number): Promise<unknown> =>
      client.callTool("echo", { n }).then(
        ({ content }) => (content?.[0] as { text?: string })?.text === String(n) || failed.push(`not ${n}`),
        (error) => failed.push(error),
      );
    const before = Array.from({ length: WIDTH }, (_, n) => call(n));
    await new Promise((resolve) => setTimeout(resolve, 10));
    goAway();
    await Promise.all([...before, ...Array.from({ length: WIDTH }, (_, n) => call(WIDTH + n))]);
  }
  return failed;
}

it("GOAWAY of an HTTP server in the middle of its answers: none is lost, and new calls go elsewhere", async () => {
  const root = authority();
  const sessions: ServerHttp2Session[] = [];
  const server = createSecureServer(root.issue("localhost", "127.0.0.1"));
  server.on("session", (session) => sessions.push(session));
  server.on("stream", (stream: ServerHttp2Stream) => {
    let text = "";
    stream.on("error", () => {});
    stream.on("data", (chunk) => {
      text += chunk;
    });
    stream.on("end", () => {
      const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: { arguments?: { n: number } } };
      const found = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, resultType: "complete" };
      const result =
        method === "server/discover" ? found : { content: [{ type: "text", text: String(params.arguments?.n) }], resultType: "complete" };
      stream.respond({ ":status": 200, "content-type": "text/event-stream" });
      stream.write(": begun\n\n");
      setTimeout(() => stream.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`), 30);
    });
  });
  const client = await connect(`https://127.0.0.1:${await portOf(server)}/mcp`, { era: "modern", tls: { ca: root.cert } });
  const failed = await lost(client, () => sessions.at(-1)?.close());
  console.log(`HTTP: ${failed.length} of ${2 * ROUNDS * WIDTH} calls lost over ${sessions.length} connections`);
  expect(failed).toEqual([]);
  expect(sessions.length).toBeGreaterThan(ROUNDS / 2);
  await client.close();
  for (const session of sessions) session.destroy();
  server.close();
});

it("GOAWAY of a grpc-js server in the middle of its answers: none is lost, and new calls go elsewhere", async () => {
  // It leaves each connection after so many milliseconds, and lets what is open end.
  const server = new grpc.Server({ "grpc.max_connection_age_ms": 40, "grpc.max_connection_age_grace_ms": 20_000 });
  const peers = new Set<string>();
  const CallTool: grpc.handleUnaryCall<{ name: string; arguments: { fields: Record<string, { numberValue: number }> } }, object> = (
    call,
    done,
  ) => {
    peers.add(call.getPeer());
    const n = call.request.arguments?.fields?.["n"]?.numberValue;
    setTimeout(() => done(null, { content: [{ text: { text: String(n) } }] }), 30);
  };
  const Initialize: grpc.handleUnaryCall<object, object> = (_call, done) =>
    done(null, { protocol_version: "2025-11-25", server_info: { name: "foreign", version: "1" }, capabilities: { tools: {} } });
  server.addService(baseService(true).service, {
    CallTool,
    Initialize,
    Ping: (_call: unknown, done: grpc.sendUnaryData<object>) => done(null, {}),
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  const client = await connect(`grpc://127.0.0.1:${port}`, { calls: "rpc", era: "legacy" });
  const failed = await lost(client, () => {});
  console.log(`gRPC: ${failed.length} of ${2 * ROUNDS * WIDTH} calls lost over ${peers.size} connections`);
  expect(failed).toEqual([]);
  expect(peers.size).toBeGreaterThan(ROUNDS / 2);
  await client.close();
  server.forceShutdown();
});
