/**
 * Figures of the HTTP wire: `npm run build && node bench/http.mjs [resume] [idle] [stalled]`. Each runs in a process of its own, so
 * that its memory is its own. Prints one line a figure and fails where one misses its target.
 */
import { spawnSync } from "node:child_process";
import { request } from "node:http";
import { connect as connectTcp } from "node:net";
import { fileURLToPath } from "node:url";
import { createServer, progress, serve } from "anywire";

const accept = "application/json, text/event-stream";
const MiB = 1024 * 1024;

/** One request on a connection of its own choosing; resolves with the head. */
function send(url, method, headers, body, agent) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const sent = request(url, { method, agent, headers: { accept, "content-type": "application/json", ...headers } }, resolve);
    sent.on("error", reject);
    sent.end(text);
  });
}

async function read(response) {
  let text = "";
  for await (const chunk of response) text += chunk;
  return text;
}

const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

async function begin(url, agent) {
  const answer = await send(url, "POST", {}, initialize, agent);
  await read(answer);
  const session = { "mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25" };
  await read(await send(url, "POST", session, { jsonrpc: "2.0", method: "notifications/initialized" }, agent));
  return session;
}

const call = (name) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {}, _meta: { progressToken: "t" } } });

/** Drops the stream 100 times during 10,000 notifications. */
async function resume() {
  const [N, DROPS] = [10_000, 100];
  const server = createServer({ name: "bench", version: "1" }).tool("count", {}, async function* () {
    for (let at = 1; at <= N; at++) yield progress(at, N, "a notification of an ordinary length");
    return "done";
  });
  const listener = await serve(server, "http://127.0.0.1:0");
  const session = await begin(listener.address);
  const seen = [];
  let answered = false;
  let last;
  let drops = 0;
  while (!answered) {
    const response =
      last === undefined
        ? await send(listener.address, "POST", session, call("count"))
        : await send(listener.address, "GET", { ...session, accept: "text/event-stream", "last-event-id": last });
    if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode} after ${last}`);
    const until = drops < DROPS ? seen.length + Math.floor(N / (DROPS + 1)) : Number.POSITIVE_INFINITY;
    let text = "";
    try {
      reading: for await (const chunk of response) {
        text += chunk;
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          const event = text.slice(0, end);
          text = text.slice(end + 2);
          last = /^id: (.+)$/m.exec(event)?.[1] ?? last;
          const data = /^data: (.+)$/m.exec(event)?.[1];
          if (data === undefined) continue;
          const message = JSON.parse(data);
          if (message.method === "notifications/progress") seen.push(message.params.progress);
          else answered = true;
          if (seen.length >= until) break reading;
        }
      }
    } catch (error) {
      if (error.code !== "ECONNRESET") throw error;
    }
    // With whatever was on its way.
    response.destroy();
    if (!answered) drops++;
  }
  await listener.close();
  const ordered = seen.every((value, at) => value === at + 1);
  report(`resume: ${drops} drops, ${seen.length} of ${N} notifications received, ${ordered ? "in order, each once" : "NOT in order"}`, {
    ok: drops === DROPS && seen.length === N && ordered,
  });
}

function memory() {
  for (let round = 0; round < 4; round++) globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, used: heapUsed + external };
}

/** 10,000 sessions that have no stream open. */
async function idle() {
  const N = 10_000;
  const server = createServer({ name: "bench", version: "1" }).tool("echo", {}, () => "x");
  const listener = await serve(server, "http://127.0.0.1:0");
  // The clients are children, or their memory would count.
  const self = fileURLToPath(import.meta.url);
  const { spawn } = await import("node:child_process");
  const clients = (count) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [self, "--sessions", listener.address, String(count)], { stdio: "inherit" });
      child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`the clients ended with ${code}`))));
    });
  await clients(200);
  const before = memory();
  await clients(N);
  const after = memory();
  await listener.close();
  const each = (after.used - before.used) / N / 1024;
  const rss = (after.rss - before.rss) / N / 1024;
  report(`idle: ${N} sessions without a stream, ${each.toFixed(1)} KiB each (resident ${rss.toFixed(1)} KiB; target 50)`, {
    ok: rss <= 50,
  });
}

async function sessions(url, count) {
  const { Agent } = await import("node:http");
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  for (let made = 0; made < count; made += 8) await Promise.all(Array.from({ length: Math.min(8, count - made) }, () => begin(url, agent)));
  agent.destroy();
}

/** 200 MB of notifications for a client that never reads, in either era. */
async function stalled() {
  const SIZE = 10_000;
  const N = (200 * 1000 * 1000) / SIZE;
  let made = 0;
  const server = createServer({ name: "bench", version: "1" }).tool("flood", {}, async function* () {
    const text = "x".repeat(SIZE);
    for (made = 0; made < N; made++) yield progress(made, N, text);
    return "done";
  });
  for (const era of ["legacy", "modern"]) {
    const listener = await serve(server, "http://127.0.0.1:0");
    const session = era === "legacy" ? await begin(listener.address) : modernHeaders;
    const idle = memory();
    const body = JSON.stringify(era === "legacy" ? call("flood") : modernCall("flood"));
    const head = Object.entries({ ...session, accept, "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    const socket = connectTcp(Number(new URL(listener.address).port), "127.0.0.1");
    socket.pause();
    socket.write(`POST /mcp HTTP/1.1\r\nHost: localhost\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`);
    let peak = 0;
    let still = 0;
    // Until it has made nothing for two seconds.
    for (let before = -1; still < 20; before = made) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      still = made === before ? still + 1 : 0;
      peak = Math.max(peak, process.memoryUsage().rss - idle.rss);
    }
    const held = memory().rss - idle.rss;
    const text = `stalled, ${era}: ${((made * SIZE) / 1e6).toFixed(1)} of 200 MB made, ${(held / MiB).toFixed(1)} MiB above idle (peak ${(peak / MiB).toFixed(1)}; target 16)`;
    report(text, { ok: held <= 16 * MiB && made < N });
    socket.destroy();
    await listener.close();
  }
}

const modernHeaders = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "flood" };
const modernCall = (name) => ({
  ...call(name),
  params: {
    name,
    arguments: {},
    _meta: {
      progressToken: "t",
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
});

function report(line, { ok }) {
  console.log(`${ok ? "ok  " : "MISS"} ${line}`);
  if (!ok) process.exitCode = 1;
}

const figures = { resume, idle, stalled };
const [first, ...rest] = process.argv.slice(2);
if (first === "--sessions") await sessions(rest[0], Number(rest[1]));
else if (first === "--run") await figures[rest[0]]();
else
  for (const name of first === undefined ? Object.keys(figures) : [first, ...rest]) {
    const { status } = spawnSync(process.execPath, ["--expose-gc", fileURLToPath(import.meta.url), "--run", name], { stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
  }
