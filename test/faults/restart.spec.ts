import { once } from "node:events";
import { createServer } from "node:http";
import { createConnection, createServer as createSocketServer } from "node:net";
import { promisify } from "node:util";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, it, vi } from "vitest";
import { type ConnectOptions, connect, Fault, type McpClient } from "../../src/api/index.js";
import { patience } from "../fixtures/children/index.js";
import { portOf } from "../relay/raw/sockets.js";
import type { RawServer } from "../relay/raw/types.js";
import { rawWires } from "../relay/raw/wires.js";
import { again, portIn, type Restarted, raw, restarts } from "./restarted.js";

const URI = "test://live";

/** What a client hears of its subscription. */
async function listening(client: McpClient): Promise<string[]> {
  const heard: string[] = [];
  const stream = client.listen({ resourceSubscriptions: [URI], toolsListChanged: true });
  expect((await stream.next()).value).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
  void (async () => {
    for await (const { method, params } of stream) heard.push(`${method} ${String(params["uri"] ?? "")}`.trim());
    heard.push("ended");
  })().catch((fault: Fault) => heard.push(`failed: ${fault.message}`));
  return heard;
}

/** A call that never ends by itself, once it runs, and every outcome it has. */
async function hanging(client: McpClient, server: Restarted): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  client.callTool("hang").then(
    (result) => outcomes.push(result),
    (fault) => outcomes.push(fault),
  );
  await vi.waitFor(() => expect(server.runs).toContain("hang"), patience);
  return outcomes;
}

/** What was given to a server of all that a session is given. */
const state = ({ heard }: Restarted): string[] => heard.filter((line) => /^(initialize|logging|resources|subscriptions)/.test(line));

describe.each(restarts)("%s, %s: a server that was killed and started again", (_name, era, start) => {
  it("goes on: the next call works, once, and the session is what it was", { timeout: 60_000 }, async () => {
    const first = await start(era);
    await using client = await connect(first.address, { era });
    await client.callTool("echo", {}, { logLevel: "error", onLog: () => {} });
    const heard = await listening(client);
    first.update(URI);
    await vi.waitFor(() => expect(heard).toEqual([`notifications/resources/updated ${URI}`]), patience);
    if (era === "legacy") await vi.waitFor(() => expect(state(first).join()).toContain("setLevel"), patience);
    const outcomes = await hanging(client, first);
    const given = state(first);

    await first.kill();
    await vi.waitFor(() => expect(outcomes).toHaveLength(1), patience);
    expect(outcomes[0]).toBeInstanceOf(Fault);
    expect(outcomes[0]).toMatchObject({ code: "unavailable" });

    const second = await again(start, era, first);
    // Nobody calls: what may have changed meanwhile is looked at again, and what changes now is heard.
    await vi.waitFor(
      () => expect(heard.slice(1).sort()).toEqual([`notifications/resources/updated ${URI}`, "notifications/tools/list_changed"]),
      patience,
    );
    expect(state(second).sort()).toEqual(given.sort());
    const result = await client.callTool("echo");
    expect(result.content).toEqual([{ type: "text", text: "done" }]);
    second.update(URI);
    await vi.waitFor(() => expect(heard.slice(3)).toEqual([`notifications/resources/updated ${URI}`]), patience);
    expect(second.runs).toEqual(["echo"]);
    expect(outcomes).toHaveLength(1);
    await client.close();
    await second.kill();
  });

  it("fails a call that is made while it is away, in time and clearly", { timeout: 60_000 }, async () => {
    const first = await start(era);
    await using client = await connect(first.address, { era, reconnectMs: 300 });
    await client.callTool("echo");
    await first.kill();
    const since = performance.now();
    // The first may be sent before the loss is noticed.
    for (let at = 0; at < 2; at++) await expect(client.callTool("echo")).rejects.toMatchObject({ code: "unavailable" });
    expect(performance.now() - since).toBeLessThan(10_000);
    const second = await again(start, era, first);
    await vi.waitFor(() => client.callTool("echo"), patience);
    expect(second.runs).toEqual(["echo"]);
    await client.close();
    await second.kill();
  });
});

/** What becomes of a connection, as its observer hears it. */
async function watched(address: string, options: ConnectOptions): Promise<{ client: McpClient; events: string[] }> {
  const events: string[] = [];
  const client = await connect(address, { ...options, observe: { upstream: ({ kind }) => events.push(kind) } });
  return { client, events };
}

/** Those whose calls wait for a server that is away. On gRPC and the tunnel a modern call goes out at once, and fails with the channel. */
const waiting = restarts.filter(([name, era]) => !name.startsWith("http") && (era === "legacy" || name === "websocket"));

it.each(waiting)("%s, %s: a call that is made while the server is away waits for it", async (_name, era, start) => {
  const first = await start(era);
  const { client, events } = await watched(first.address, { era });
  await first.kill();
  await vi.waitFor(() => expect(events).toEqual(["start", "ready", "lost"]), patience);
  const call = client.callTool("echo");
  const left = client.callTool("left", {}, { timeout: 20 });
  await expect(left).rejects.toMatchObject({ code: "deadline" });
  const second = await again(start, era, first);
  expect((await call).content).toEqual([{ type: "text", text: "done" }]);
  expect(events).toEqual(["start", "ready", "lost", "restart"]);
  // What was given up while it waited is not sent after all.
  expect(second.runs).toEqual(["echo"]);
  await client.close();
  await second.kill();
});

const refusing = restarts.filter(([name]) => name === "sse" || name === "websocket");

describe.each(refusing)("%s, %s: a server that comes back and refuses", (_name, era, start) => {
  it.each([
    [401, "unauthenticated"],
    [403, "denied"],
    [404, "unavailable"],
  ])("with %d is asked once, and the call fails with that", async (status, code) => {
    const first = await start(era);
    const { client, events } = await watched(first.address, { era });
    await first.kill();
    await vi.waitFor(() => expect(events).toContain("lost"), patience);
    let asked = 0;
    const http = createServer((_request, response) => {
      asked++;
      response.writeHead(status).end();
    });
    http.on("upgrade", (_request, socket) => {
      asked++;
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    });
    await vi.waitFor(() => portOf(http, portIn(first.address)), patience);
    await expect(client.callTool("echo")).rejects.toMatchObject({ code, data: { status } });
    expect(await client.closed).toMatchObject({ code, data: { status } });
    await expect(client.callTool("echo")).rejects.toMatchObject({ code, data: { status } });
    expect(asked).toBe(1);
    http.closeAllConnections();
    http.close();
  });
});

it("does not storm a server that hangs up on it, and stops when it is closed", async () => {
  const start = raw(rawWires.ws);
  const first = await start("legacy");
  const { client, events } = await watched(first.address, { era: "legacy" });
  await first.kill();
  await vi.waitFor(() => expect(events).toContain("lost"), patience);
  let attempts = 0;
  const rude = createSocketServer((socket) => {
    attempts++;
    socket.on("error", () => {});
    socket.destroy();
  });
  await vi.waitFor(() => portOf(rude, portIn(first.address)), patience);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  // After 50 ms, 100, 200, 400 and 800, each a quarter more or less.
  expect(attempts).toBeGreaterThanOrEqual(2);
  expect(attempts).toBeLessThanOrEqual(7);
  const call = client.callTool("echo");
  await client.close();
  await expect(call).rejects.toMatchObject({ code: "unavailable", data: { reason: "closed" } });
  // A connection of our own: once it is hung up on, every attempt made before it has been counted.
  const last = createConnection(portIn(first.address), "127.0.0.1");
  last.on("error", () => {});
  await once(last.resume(), "close");
  const before = attempts;
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(attempts).toBe(before);
  rude.close();
});

it("withdraws the questions of a server that is gone, and answers those of the next", async () => {
  const heard: string[] = [];
  // It asks as soon as it may, in no call, and under the same id each time.
  const asks = (server: () => RawServer) => (text: string) => {
    const { id, method } = JSON.parse(text) as { id?: number; method?: string };
    if (id === 7) heard.push(text);
    const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } };
    const params = { message: "?", requestedSchema: { type: "object", properties: {} } };
    if (method === "initialize") server().send(JSON.stringify({ jsonrpc: "2.0", id, result }));
    if (method === "notifications/initialized")
      server().send(JSON.stringify({ jsonrpc: "2.0", id: 7, method: "elicitation/create", params }));
  };
  let server: RawServer = await rawWires.ws.server(
    "legacy",
    asks(() => server),
  );
  const asked: { signal: AbortSignal; answer: (result: { action: "decline" | "cancel" }) => void }[] = [];
  await using client = await connect(String(server.address), {
    era: "legacy",
    elicit: (_params, { signal }) => new Promise((answer) => asked.push({ signal, answer })),
  });
  await vi.waitFor(() => expect(asked).toHaveLength(1), patience);
  await server.close();
  await vi.waitFor(() => expect(asked[0]?.signal.aborted).toBe(true), patience);
  const port = portIn(String(server.address));
  server = await vi.waitFor(
    () =>
      rawWires.ws.server(
        "legacy",
        asks(() => server),
        port,
      ),
    patience,
  );
  await vi.waitFor(() => expect(asked).toHaveLength(2), patience);
  asked[0]?.answer({ action: "decline" });
  asked[1]?.answer({ action: "cancel" });
  await vi.waitFor(() => expect(heard).toEqual(['{"jsonrpc":"2.0","id":7,"result":{"action":"cancel"}}']), patience);
  await client.close();
  await server.close();
});

const refusedByStatus = restarts.filter(([name]) => name === "grpc" || name === "tunnel");

it.each(refusedByStatus)("%s, %s: a server that comes back and refuses the stream is not asked for ever", async (_name, era, start) => {
  const first = await start(era);
  await using client = await connect(first.address, { era });
  const heard = await listening(client);
  await first.kill();
  let asked = 0;
  const server = new grpc.Server();
  const refuse = (stream: grpc.ServerDuplexStream<Buffer, Buffer>): void => {
    asked++;
    stream.on("error", () => {});
    stream.emit("error", Object.assign(new Error(), { code: grpc.status.UNAUTHENTICATED, details: "who are you?" }));
  };
  const same = (bytes: Buffer): Buffer => bytes;
  const coding = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
  const streams = { requestStream: true, responseStream: true, ...coding } as const;
  server.addService(
    { Call: { path: "/MCP/Call", ...streams }, Session: { path: "/mcp.v1.McpService/Session", ...streams } },
    { Call: refuse, Session: refuse },
  );
  const credentials = grpc.ServerCredentials.createInsecure();
  await vi.waitFor(() => promisify(server.bindAsync.bind(server))(`127.0.0.1:${portIn(first.address)}`, credentials), patience);
  expect(await client.closed).toMatchObject({ code: "unauthenticated" });
  await expect(client.callTool("echo")).rejects.toMatchObject({ code: "unauthenticated" });
  await vi.waitFor(() => expect(heard).toEqual([expect.stringMatching(/^failed: .*who are you/)]), patience);
  expect(asked).toBe(1);
  server.forceShutdown();
});

it("sets a level again that the server had not answered", async () => {
  const heard: string[] = [];
  const begins = (server: () => RawServer) => (text: string) => {
    const { id, method } = JSON.parse(text) as { id?: number; method?: string };
    heard.push(`${method} ${text.match(/"level":"(\w+)"/)?.[1] ?? ""}`.trim());
    const serverInfo = { name: "s", version: "1" };
    if (method === "initialize")
      server().send(
        JSON.stringify({
          jsonrpc: "2.0",
          id,
          result: { protocolVersion: "2025-11-25", capabilities: { tools: {}, logging: {} }, serverInfo },
        }),
      );
  };
  let server: RawServer = await rawWires.ws.server(
    "legacy",
    begins(() => server),
  );
  await using client = await connect(String(server.address), { era: "legacy" });
  const call = client.callTool("hang", {}, { logLevel: "debug", onLog: () => {} });
  const failed = expect(call).rejects.toMatchObject({ code: "unavailable" });
  await vi.waitFor(() => expect(heard).toContain("tools/call"), patience);
  await server.close();
  await failed;
  heard.length = 0;
  const port = portIn(String(server.address));
  server = await vi.waitFor(
    () =>
      rawWires.ws.server(
        "legacy",
        begins(() => server),
        port,
      ),
    patience,
  );
  await vi.waitFor(() => expect(heard).toEqual(["initialize", "notifications/initialized", "logging/setLevel debug"]), patience);
  await client.close();
  await server.close();
});
