import { connect as connectHttp2, createSecureServer } from "node:http2";
import { createServer as createTcp, type Socket } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, describe, expect, it } from "vitest";
import { connect } from "../../src/api/index.js";
import { json, modern, modernHeaders, open, until } from "../http/requests.js";
import { portOf } from "../relay/raw/sockets.js";
import { blackHole } from "./black-hole.js";
import { commenting, KEEP_ALIVE, tls, trust } from "./commenting.js";
import { restarts } from "./restarted.js";

/** The time after which a silent server is dead or asked; it is looked for every eighth of it. */
const DEAD = 400;
const PING = 150;
/** What a busy machine adds. */
const SLACK = 1500;

const figures: string[] = [];
afterAll(() => console.log(figures.join("\n")));

function figure(name: string, began: number, unit: readonly [string, number]): number {
  const took = Date.now() - began;
  figures.push(`${name}: noticed after ${took} ms, ${(took / unit[1]).toFixed(1)} × ${unit[0]} (${unit[1]} ms)`);
  return took;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const foreign = restarts.filter(([name]) => /^(http|sse)/.test(name));
/** What is left of an error. */
const told = (error: { code: unknown; data: { reason?: unknown } }): unknown => [error.code, error.data?.reason];

describe("a client of a foreign server", () => {
  it.each(foreign)("gives up a silent one that answers nothing on a new connection: %s, %s", async (name, era, start) => {
    const server = await start(era);
    await using hole = await blackHole(server.address);
    await using client = await connect(hole.through(server.address), { era, deadMs: DEAD });
    const call = client.callTool("hang", {}).catch(told);
    await until(() => server.runs.includes("hang"));
    hole.swallow("all");
    const began = Date.now();
    expect(await call).toEqual(["unavailable", "dead-peer"]);
    expect(figure(`client, ${name}, ${era}, asked`, began, ["deadMs", DEAD])).toBeLessThan(2.5 * DEAD + SLACK);
    await server.kill();
  });

  it.each(foreign)("goes on waiting for a quiet one that answers: %s, %s", async (_name, era, start) => {
    const server = await start(era);
    await using client = await connect(server.address, { era, deadMs: DEAD });
    const before = server.heard.length;
    let over = false;
    const call = client.callTool("hang", {}).catch(() => {
      over = true;
    });
    const asks = () => server.heard.slice(before).filter((each) => /^(ping|server\/discover) /.test(each)).length;
    await until(() => asks() >= 3);
    expect(over).toBe(false);
    await client.close();
    await call;
    await server.kill();
  });
});

it.each([
  ["http", "modern"],
  ["http", "legacy"],
  ["https", "modern"],
  ["sse+http", "legacy"],
] as const)("a client gives a stream up whose comments stop, although the server answers elsewhere: %s, %s", async (scheme, era) => {
  await using server = await commenting(scheme, era);
  await using hole = await blackHole(server.address);
  await using client = await connect(hole.through(server.address), { era, deadMs: DEAD, ...trust });
  const call = client.callTool("hang", {}).catch(told);
  await until(server.called);
  await pause(3 * KEEP_ALIVE);
  hole.swallow("old");
  const began = Date.now();
  expect(await call).toEqual(["unavailable", "dead-peer"]);
  expect(figure(`client, ${scheme}, ${era}, comments`, began, ["deadMs", DEAD])).toBeLessThan(1.5 * DEAD + SLACK);
});

it("a client goes on with the streams of a legacy session that went silent, on new connections", async () => {
  await using server = await commenting("http", "legacy", { resumes: true });
  await using hole = await blackHole(server.address);
  await using client = await connect(hole.through(server.address), { era: "legacy", deadMs: DEAD });
  const call = client.callTool("hang", {});
  await until(() => server.called() && server.gets() === 1);
  await pause(3 * KEEP_ALIVE);
  hole.swallow("old");
  expect(await call).toMatchObject({ content: [] });
  // The stream of no call, and that of the call.
  await until(() => server.gets() === 3);
});

it("a client gives an HTTP/2 connection up that answers no PING", async () => {
  let called = false;
  const server = createSecureServer(tls, async (request, response) => {
    const discover = request.headers["mcp-method"] === "server/discover";
    called ||= !discover;
    const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { id } = JSON.parse(text) as { id: unknown };
    if (discover) response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  const address = `https://127.0.0.1:${await portOf(server as never)}/mcp`;
  await using hole = await blackHole(address);
  await using client = await connect(hole.through(address), { era: "modern", pingMs: DEAD / 2, ...trust });
  const call = client.callTool("hang", {}).catch(told);
  await until(() => called);
  hole.swallow("all");
  const began = Date.now();
  expect(await call).toEqual(["unavailable", "dead-peer"]);
  expect(figure("client, http/2, modern", began, ["pingMs", DEAD / 2])).toBeLessThan(DEAD + SLACK);
  server.close();
});

it("a client gives up a TLS handshake that nobody answers", async () => {
  const sockets = new Set<Socket>();
  let began = Date.now();
  const server = createTcp((socket) => {
    began = Date.now();
    sockets.add(socket.on("error", () => {}).resume());
  });
  const address = `https://127.0.0.1:${await portOf(server)}/mcp`;
  expect(await connect(address, { era: "modern", deadMs: DEAD, ...trust }).catch(told)).toEqual(["unavailable", "dead-peer"]);
  expect(figure("client, https, handshake", began, ["deadMs", DEAD])).toBeLessThan(DEAD + SLACK);
  for (const socket of sockets) socket.destroy();
  server.close();
});

it("a client that was held up itself gives up nobody for that", async () => {
  const everyMs = 150;
  await using server = await commenting("http", "modern", { everyMs });
  await using client = await connect(server.address, { era: "modern", deadMs: DEAD });
  let over = false;
  const call = client.callTool("hang", {}).catch(() => {
    over = true;
  });
  await until(server.called);
  // Between two comments, and after the first was taken note of.
  await pause(1.5 * everyMs);
  for (const began = Date.now(); Date.now() - began < 3 * DEAD; );
  await pause(DEAD / 2);
  expect(over).toBe(false);
  await client.close();
  await call;
});

async function sdkClient(transport: Parameters<Client["connect"]>[0]): Promise<Client> {
  const client = new Client({ name: "sdk", version: "0" });
  await client.connect(transport);
  return client;
}

describe("a server", () => {
  const often = { keepAliveMs: KEEP_ALIVE, pingMs: PING };
  const bound = 3 * PING + 2 * KEEP_ALIVE + SLACK;

  it("ends the session of a client that stops answering: sse, the official SDK", async () => {
    await using at = await open(often, "sse+http");
    await using hole = await blackHole(at.listener.address);
    const client = await sdkClient(new SSEClientTransport(new URL(hole.through(at.listener.address).replace("sse+", ""))));
    const call = client.callTool({ name: "wait", arguments: { key: "x" } }).catch(() => {});
    await until(() => at.waiting.has("x") && hole.said.includes("anywire-alive-2"));
    expect(at.waiting.has("x")).toBe(true);
    hole.swallow("all");
    const began = Date.now();
    await until(() => at.waiting.size === 0);
    expect(figure("server, sse, legacy", began, ["pingMs", PING])).toBeLessThan(bound);
    await client.close();
    await call;
  });

  it("cuts the streams of a client that stops answering: http, legacy, the official SDK", async () => {
    const faults: unknown[] = [];
    await using at = await open({ ...often, onFault: (fault) => void faults.push(fault.data) });
    await using hole = await blackHole(at.url);
    const transport = new StreamableHTTPClientTransport(new URL(hole.through(at.url)));
    const client = await sdkClient(transport as never);
    const headers = { accept: "text/event-stream", "mcp-session-id": transport.sessionId ?? "", "mcp-protocol-version": "2025-11-25" };
    const listen = async (): Promise<number> => {
      const giveUp = new AbortController();
      const { status } = await fetch(at.url, { headers, signal: giveUp.signal });
      giveUp.abort();
      return status;
    };
    await until(() => hole.said.includes("anywire-alive-2"));
    expect(await listen()).toBe(409);
    hole.swallow("all");
    const began = Date.now();
    await until(() => faults.length > 0);
    expect(figure("server, http, legacy", began, ["pingMs", PING])).toBeLessThan(bound);
    expect(faults).toEqual([{ reason: "dead-peer" }]);
    expect(await listen()).toBe(200);
    await client.close();
  });

  it("closes an HTTP/2 connection whose client answers no PING: http, modern, node:http2", async () => {
    await using at = await open(often);
    await using hole = await blackHole(at.url);
    const session = connectHttp2(new URL(hole.through(at.url)).origin);
    session.on("error", () => {});
    const body = modern(1, "tools/call", { name: "wait", arguments: { key: "h2" } });
    const stream = session.request({ ":method": "POST", ":path": "/mcp", ...modernHeaders(body) });
    stream.on("error", () => {});
    stream.end(JSON.stringify(body));
    await until(() => at.waiting.has("h2"));
    await pause(4 * KEEP_ALIVE);
    expect(at.waiting.has("h2")).toBe(true);
    hole.swallow("all");
    const began = Date.now();
    await until(() => at.waiting.size === 0);
    expect(figure("server, http/2, modern", began, ["keepAliveMs", KEEP_ALIVE])).toBeLessThan(4 * KEEP_ALIVE + SLACK);
    session.destroy();
  });

  it.each(["http", "sse+http"] as const)("cuts no client that has never answered a ping: %s", async (scheme) => {
    await using at = await open(often, scheme);
    const giveUp = new AbortController();
    let headers: Record<string, string> = { accept: "text/event-stream" };
    if (scheme === "http") {
      const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "curl", version: "1" } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize });
      const begun = await fetch(at.url, { method: "POST", headers: json, body });
      headers = { ...headers, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    }
    const answer = await fetch(at.listener.address.replace("sse+", ""), { headers, signal: giveUp.signal });
    let text = "";
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      if (text.includes('"anywire-alive-5"')) break;
    }
    expect(text).toContain('"anywire-alive-5"');
    giveUp.abort();
  });
});
