import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { connect, createServer, Fault, type McpClient, serve } from "../../src/api/index.js";

const server = fileURLToPath(new URL("../fixtures/http-stdio-server.mjs", import.meta.url));
const foreign = fileURLToPath(new URL("../fixtures/node-http2-stdio.mjs", import.meta.url));
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function dialed(onStderr?: (line: string) => void): Promise<McpClient> {
  const client = await connect(
    { command: process.execPath, args: [server], speaks: "http+stdio" },
    { ...(onStderr === undefined ? {} : { onStderr }) },
  );
  cleanups.push(() => client.close());
  return client;
}

interface RawChild {
  readonly child: ChildProcessWithoutNullStreams;
  readonly session: ClientHttp2Session;
  readonly stderr: () => string;
}

/** Node's own HTTP/2 client on the pipes of the server. */
async function raw(): Promise<RawChild> {
  const child = spawn(process.execPath, [server]);
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += String(chunk);
  });
  // What was asked is answered also after stdin has been closed.
  const socket = new Duplex({
    read() {},
    write: (chunk, _encoding, done) => (child.stdin.writableEnded ? done() : void child.stdin.write(chunk, done)),
  });
  child.stdout.on("data", (chunk) => socket.push(chunk)).on("end", () => socket.push(null));
  const session = connectHttp2("http://localhost", { createConnection: () => socket }).on("error", () => {});
  cleanups.push(() => {
    session.destroy();
    child.kill();
  });
  return { child, session, stderr: () => stderr };
}

async function post(
  session: ClientHttp2Session,
  method: string,
  params: object = {},
  more: OutgoingHttpHeaders = {},
): Promise<{ status: number | undefined; body: string }> {
  const version = "2026-07-28";
  const envelope = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = (params as { name?: string }).name;
  const stream = session.request({
    ":method": "POST",
    ":path": "/mcp",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": name }),
    ...more,
  });
  stream.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: envelope, ...params } }));
  const [head] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status"?: number }];
  let body = "";
  // Not by iterating: on a client that has no real socket, Node 24 then throws after the end.
  await once(
    stream.on("data", (chunk) => {
      body += String(chunk);
    }),
    "end",
  );
  return { status: head[":status"], body };
}

describe("http+stdio", () => {
  it("serves Node's own HTTP/2 client, whatever it calls the host, and no other path", async () => {
    const { session } = await raw();
    const stranger = { ":authority": "evil.example", origin: "https://evil.example" };
    expect((await post(session, "server/discover", {}, stranger)).status).toBe(200);
    const { status, body } = await post(session, "tools/call", { name: "echo", arguments: { text: "by hand" } });
    expect(status).toBe(200);
    expect(body).toContain("by hand");
    expect((await post(session, "server/discover", {}, { ":path": "/sse" })).status).toBe(404);
  });

  it("calls a server that is Node's own", async () => {
    const client = await connect({ command: process.execPath, args: [foreign], speaks: "http+stdio" });
    cleanups.push(() => client.close());
    for (const size of [5, 300_000]) {
      const { content } = await client.callTool("echo", { size });
      expect(content).toEqual([{ type: "text", text: "x".repeat(size) }]);
    }
  });

  it("carries a large resource to a reader that pauses", async () => {
    const client = await dialed();
    let at = 0;
    let pauses = 0;
    for await (const { data } of client.readChunks("fixture://large")) {
      const bytes = data as Uint8Array;
      expect(bytes[0]).toBe(Math.floor(at / 65_536) % 256);
      at += bytes.length;
      expect(bytes[bytes.length - 1]).toBe(Math.floor((at - 1) / 65_536) % 256);
      // Until everything has come that may come without it.
      if (at > pauses * 2_000_000) await new Promise((resolve) => setTimeout(resolve, 100, pauses++));
    }
    expect(at).toBe(256 * 65_536);
  });

  it("tells a client that does not speak HTTP/2, and exits", async () => {
    const child = spawn(process.execPath, [server]);
    cleanups.push(() => child.kill());
    const exited = once(child, "exit");
    const said: Buffer[] = [];
    child.stdout.on("data", (chunk) => said.push(chunk));
    child.stdin.on("error", () => {}).write('{"jsonrpc":"2.0","id":1,"method":"initialize"}\n');
    expect(await exited).toEqual([0, null]);
    // GOAWAY on stream 0, with PROTOCOL_ERROR.
    expect(Buffer.concat(said).subarray(-17).toString("hex")).toBe("0000080700000000000000000000000001");
  });

  it("finishes what is in flight when stdin ends, and exits", async () => {
    const { child, session, stderr } = await raw();
    const answer = post(session, "tools/call", { name: "slow", arguments: { ms: 500 } });
    while (!stderr().includes("began")) await new Promise((resolve) => setTimeout(resolve, 10));
    const exited = once(child, "exit");
    child.stdin.end();
    expect((await answer).body).toContain("at last");
    expect(await exited).toEqual([0, null]);
  });

  it("quotes what a server prints before it serves", async () => {
    const dialing = connect({ command: process.execPath, args: [server, "noisy"], speaks: "http+stdio" });
    const fault = await dialing.catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ code: "unavailable", data: { reason: "stray-output", text: "Listening on stdio, have fun!" } });
    expect((fault as Fault).message).toContain('"Listening on stdio, have fun!"');
  });

  it("quotes what a server prints in the middle, and lets console.log be", async () => {
    const lines: string[] = [];
    const client = await dialed((line) => lines.push(line));
    expect(await client.callTool("log")).toMatchObject({ content: [{ text: "logged" }] });
    await vi.waitFor(() => expect(lines).toContain("a word on the console"));
    await expect(client.callTool("print")).rejects.toMatchObject({ data: { reason: "stray-output", text: "Debug: got here" } });
    expect(await client.closed).toMatchObject({ data: { reason: "stray-output" } });
  });

  it("says how a server ended, to the call and to the connection", async () => {
    const client = await dialed();
    const others = client.callTool("hang").catch((error: unknown) => error);
    await expect(client.callTool("exit")).rejects.toMatchObject({ code: "unavailable", data: { reason: "exited", code: 3 } });
    expect(await others).toMatchObject({ data: { reason: "exited", code: 3 } });
    expect(await client.closed).toMatchObject({ data: { reason: "exited", code: 3 } });
    await expect(client.callTool("echo")).rejects.toMatchObject({ code: "unavailable" });
  });

  it("outlives more cancelled calls than a host would let a stranger make", async () => {
    const client = await dialed();
    for (let round = 0; round < 15; round++) {
      const leave = new AbortController();
      const calls = Array.from({ length: 100 }, () => client.callTool("hang", {}, { signal: leave.signal }).catch(() => "left"));
      await client.callTool("echo", { text: "there" });
      leave.abort();
      await Promise.all(calls);
    }
    expect(await client.callTool("echo", { text: "still" })).toMatchObject({ content: [{ text: "still" }] });
  });

  it("is of the modern era", async () => {
    const command = { command: process.execPath, args: [server], speaks: "http+stdio" } as const;
    await expect(connect(command, { era: "legacy" })).rejects.toMatchObject({ code: "unsupported-version" });
    const legacy = { eras: ["legacy"] } as const;
    await expect(serve(createServer({ name: "a", version: "1" }), "http+stdio:", legacy)).rejects.toMatchObject({
      code: "unsupported-version",
    });
    await expect(connect("http+stdio:")).rejects.toMatchObject({ code: "invalid-params" });
  });
});
