import { realpathSync } from "node:fs";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, it, vi } from "vitest";
import { connect } from "../../src/api/index.js";
import { everything, scratch, script } from "../cli/support.js";
import { overHttp, startBridge, textOf } from "./support.js";

const anyPort = ["--listen", "any://127.0.0.1:0"] as const;

describe("--max-body", () => {
  it("is told on every wire to whoever sends more", async () => {
    const bridge = await startBridge([...anyPort, "--max-body", "10kb", ...everything]);
    const url = bridge.at("Streamable HTTP");
    const post = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "x".repeat(20_000) });
    expect([post.status, await post.text()]).toEqual([413, expect.stringContaining("larger than 10000 bytes")]);
    await expect((await overHttp(url)).callTool({ name: "echo", arguments: { message: "x".repeat(20_000) } })).rejects.toThrow(
      "10000 bytes",
    );
    const larger = { code: grpc.status.RESOURCE_EXHAUSTED, details: "a message is larger than 10000 bytes" };
    expect(await sessionStatus(bridge.at("gRPC").replace("grpc://", ""), Buffer.alloc(20_000, 0x61))).toMatchObject(larger);
    for (const title of ["gRPC", "gRPC tunnel", "WebSocket"]) {
      await using client = await connect(bridge.at(title));
      const call = client.callTool("echo", { message: "x".repeat(20_000) });
      await expect(Promise.resolve(call), title).rejects.toThrow(/larger than/);
    }
  });
});

/** The status of a Session stream of grpc-js after one message with an unknown field of this content. */
function sessionStatus(authority: string, content: Buffer): Promise<grpc.StatusObject> {
  const channel = new grpc.Client(authority, grpc.credentials.createInsecure());
  const identity = (bytes: Buffer): Buffer => bytes;
  const stream = channel.makeBidiStreamRequest("/mcp.v1.McpService/Session", identity, identity);
  stream.on("error", () => {}).resume();
  const head = [0x7a, (content.length & 127) | 128, ((content.length >> 7) & 127) | 128, content.length >> 14];
  stream.write(Buffer.concat([Buffer.from(head), content]));
  return new Promise<grpc.StatusObject>((resolve) => stream.on("status", resolve)).finally(() => channel.close());
}

const PAGE = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "0" } };

/** A POST as any client sends it; with a session if there is one. */
async function post(url: string, method: string, params: object = {}, session = ""): Promise<Response> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return fetch(url, { method: "POST", headers: session === "" ? headers : { ...headers, "mcp-session-id": session }, body });
}

/** A session that is ready. */
async function begin(url: string): Promise<string> {
  const session = (await post(url, "initialize", PAGE)).headers.get("mcp-session-id") ?? "";
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-session-id": session };
  await fetch(url, { method: "POST", headers, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' });
  return session;
}

const slow = { name: "trigger-long-running-operation", arguments: { duration: 10, steps: 2 } };

describe("what an option says, the command does", () => {
  it("--timeout ends a call, --keepalive keeps a stream, --idle-timeout ends a session", async () => {
    const times = ["--timeout", "300ms", "--keepalive", "200ms", "--idle-timeout", "1s"];
    const bridge = await startBridge([...anyPort, ...times, ...everything]);
    const url = bridge.at("Streamable HTTP");
    const session = await begin(url);
    expect(await (await post(url, "tools/call", slow, session)).text()).toContain('"code":-32001');
    const stop = new AbortController();
    const stream = await fetch(url, { headers: { accept: "text/event-stream", "mcp-session-id": session }, signal: stop.signal });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain("alive");
    stop.abort();
    await vi.waitFor(async () => expect((await post(url, "ping", {}, session)).status).toBe(404), { timeout: 15_000, interval: 3_000 });
  }, 30_000);

  it("--idle-stop stops the server, and the next call starts it", async () => {
    const bridge = await startBridge([...anyPort, "--idle-stop", "300ms", ...everything]);
    const url = bridge.at("Streamable HTTP");
    const children = async (): Promise<string | undefined> =>
      /^anywire_children (\d+)$/m.exec(await (await fetch(new URL("/metrics", url))).text())?.[1];
    await vi.waitFor(async () => expect(await children()).toBe("0"), { timeout: 10_000, interval: 200 });
    expect(await (await fetch(new URL("/readyz", url))).text()).toBe("idle\n");
    expect(await textOf((await overHttp(url)).callTool({ name: "echo", arguments: { message: "hi" } }))).toBe("Echo: hi");
    expect(await children()).toBe("1");
  });

  it("--stateless has no sessions and no stream", async () => {
    const bridge = await startBridge([...anyPort, "--stateless", ...everything]);
    const url = bridge.at("Streamable HTTP");
    const answer = await post(url, "initialize", PAGE);
    expect([answer.status, answer.headers.get("mcp-session-id")]).toEqual([200, null]);
    expect((await fetch(url, { headers: { accept: "text/event-stream" } })).status).toBe(405);
    expect(await textOf((await overHttp(url)).callTool({ name: "echo", arguments: { message: "hi" } }))).toBe("Echo: hi");
  });

  it.each([["--rate"], ["--tool-rate"]])("%s refuses the calls above it", async (option) => {
    const bridge = await startBridge([...anyPort, option, "4/h", ...everything]);
    const url = bridge.at("Streamable HTTP");
    const session = await begin(url);
    const call = async (): Promise<string> =>
      (await post(url, "tools/call", { name: "echo", arguments: { message: "hi" } }, session)).text();
    const answers = [await call(), await call(), await call(), await call(), await call()];
    expect(answers[0]).toContain("Echo: hi");
    expect(answers[4]).toContain('"retryAfterMs"');
  });

  it("--cwd, --env and --offer reach the server", async () => {
    const source = `
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method, params } = JSON.parse(line);
        if (id === undefined) return;
        const told = [process.cwd(), process.env.TOLD, Object.keys(params.capabilities ?? {}).join()];
        const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "it", version: "0" }, instructions: told.join(" ") };
        const answer = method === "initialize" ? { result } : { error: { code: -32601, message: "no" } };
        console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
      });`;
    const folder = realpathSync(scratch());
    for (const [args, offered] of [
      [["--offer", "roots,sampling"], "sampling,roots"],
      [["--offer", "none"], ""],
    ] as const) {
      const given = ["--cwd", folder, "--env", "TOLD=yes", "--sessions", "shared", ...args];
      const bridge = await startBridge([...anyPort, ...given, ...script(source)]);
      const client = await overHttp(bridge.at("Streamable HTTP"));
      const [cwd, told, capabilities] = (client.getInstructions() ?? "").split(" ");
      expect([cwd, told, capabilities?.split(",").sort()]).toEqual([folder, "yes", offered.split(",").sort()]);
    }
  });
});
