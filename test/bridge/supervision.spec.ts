import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, it, vi } from "vitest";
import { connect, type JsonObject, type McpClient } from "../../src/api/index.js";
import { alive, patience } from "../fixtures/children/index.js";
import { nobodyLeft } from "../fixtures/processes.js";
import { modern, postModern } from "../http/requests.js";
import { Ledger, openBridge, type TestBridge } from "./support.js";

const URI = "test://live";

const legacy = (made: TestBridge): Promise<McpClient> => connect(made.at("http").address, { era: "legacy" });
const textOf = ({ content }: Awaited<ReturnType<McpClient["callTool"]>>): string => (content[0] as { text: string }).text;

it("starts a child again that was killed: calls in flight fail once, nothing runs twice, and the session is what it was", {
  timeout: 60_000,
}, async () => {
  const ledger = new Ledger();
  await using made = await openBridge(["http"], { to: ledger.command });
  const client = new Client({ name: "watcher", version: "1" });
  const heard: string[] = [];
  client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
  await client.connect(new StreamableHTTPClientTransport(new URL(made.at("http").address)));
  await client.setLoggingLevel("error");
  await client.subscribeResource({ uri: URI });
  const outcomes: unknown[] = [];
  const calls = Array.from({ length: 8 }, () =>
    client.callTool({ name: "hang" }).then(
      (result) => outcomes.push(result),
      (fault) => outcomes.push(fault),
    ),
  );
  await vi.waitFor(() => expect(ledger.count("tools/call hang")).toBe(8), patience);
  const [first] = ledger.pids;
  expect(made.upstream).toMatchObject({ state: "ready", sessions: 1, children: 1, restarts: 0 });

  process.kill(first as number, "SIGKILL");
  const killed = performance.now();
  await Promise.all(calls);
  console.log(`8 calls failed ${Math.round(performance.now() - killed)} ms after the kill`);
  for (const fault of outcomes) expect(fault).toMatchObject({ message: expect.stringContaining("the server was killed by SIGKILL") });
  // One that comes while it starts waits for it.
  const echo = await client.callTool({ name: "echo", arguments: { text: "again" } });
  expect(echo.content).toEqual([{ type: "text", text: "again" }]);
  expect(made.upstream).toMatchObject({ state: "ready", sessions: 1, children: 1, restarts: 1 });
  const second = ledger.pids[1];
  await vi.waitFor(() => expect(heard.sort()).toEqual(["notifications/resources/updated", "notifications/tools/list_changed"]), patience);
  expect(ledger.of(second)).toEqual(
    expect.arrayContaining(["initialize", "notifications/initialized", "logging/setLevel error", `resources/subscribe ${URI}`]),
  );
  expect(ledger.count("tools/call hang")).toBe(8);
  expect(outcomes).toHaveLength(8);
  await client.callTool({ name: "change", arguments: { uri: URI } });
  await vi.waitFor(() => expect(heard).toHaveLength(3), patience);
  // What the server said of itself before it was killed is not told any more.
  const late = new Client({ name: "late", version: "1" });
  await late.connect(new StreamableHTTPClientTransport(new URL(made.at("http").address)));
  expect(late.getServerVersion()).toMatchObject({ name: "ledger", version: "2" });
  await late.close();
  await client.close();
});

it("a call that ends its server is not run again", { timeout: 30_000 }, async () => {
  const ledger = new Ledger();
  await using made = await openBridge(["http"], { to: ledger.command });
  await using client = await legacy(made);
  await expect(client.callTool("crash")).rejects.toThrow("the server exited with code 7");
  expect(textOf(await client.callTool("echo", { text: "again" }))).toBe("again");
  expect(ledger.count("tools/call crash")).toBe(1);
});

it("a server that cannot start is an error of bridge(), and leaves nothing behind", { timeout: 30_000 }, async () => {
  await expect(openBridge(["http"], { to: { command: "/nonexistent/server" } })).rejects.toMatchObject({ code: "unavailable" });
  await expect(openBridge(["http"], { to: new Ledger("dies").command })).rejects.toThrow("exited with code 3");
  await nobodyLeft();
});

it.each(["shared", "own", { pool: 2 }] as const)(
  "%j: a server that does not start again is given up: calls fail at once and clearly, and it is tried again slowly",
  { timeout: 60_000 },
  async (sessions) => {
    const ledger = new Ledger("dies-later");
    const restart = { firstMs: 5, longestMs: 20, tries: 3, slowMs: 60_000 };
    await using made = await openBridge(["http"], { to: ledger.command, sessions, restart });
    await using client = await connect(made.at("http").address, { era: "legacy" }).catch(() => undefined);
    if (sessions === "shared") await client?.callTool("crash").catch(() => {});
    await vi.waitFor(async () => {
      await connect(made.at("http").address, { era: "legacy" })
        .then(
          (late) => late.callTool("echo", { text: "" }).finally(() => late.close()),
          (fault) => Promise.reject(fault),
        )
        .catch(() => {});
      expect(made.upstream.state).toBe("failed");
    }, patience);
    const starts = ledger.pids.length;
    const failed = connect(made.at("http").address, { era: "legacy" }).then((late) => late.callTool("echo", { text: "" }));
    await expect(failed).rejects.toThrow(/tried again/);
    expect(made.upstream.lastFault?.message).toContain("exited with code 3");
    expect(ledger.pids.length).toBe(starts);
  },
);

it("lazy: starts with the first call; calls that come meanwhile wait, and run once", { timeout: 30_000 }, async () => {
  const ledger = new Ledger("slow=300");
  await using made = await openBridge(["http"], { to: ledger.command, lazy: true });
  expect(made.upstream).toMatchObject({ state: "idle", sessions: 0, children: 0 });
  const clients = await Promise.all(Array.from({ length: 4 }, () => legacy(made)));
  await Promise.all(clients.map((client, at) => client.callTool("echo", { text: String(at) })));
  expect(made.upstream).toMatchObject({ state: "ready", sessions: 1, children: 1 });
  expect(ledger.count("initialize")).toBe(1);
  expect(ledger.count("tools/call echo")).toBe(4);
  await Promise.all(clients.map((client) => client.close()));
});

it("waits for a server that starts too slowly only so long", { timeout: 30_000 }, async () => {
  await using made = await openBridge(["http"], { to: new Ledger("slow=60000").command, lazy: true, waitMs: 200 });
  await expect(legacy(made)).rejects.toThrow(/within 200 ms/);
});

it("idleStopMs: stops when nobody uses it, and never under a call, a stream or a subscription", { timeout: 30_000 }, async () => {
  const ledger = new Ledger();
  await using made = await openBridge(["http"], { to: ledger.command, idleStopMs: 100, clientIdleMs: 300 });
  await using modern = await connect(made.at("http").address, { era: "modern" });
  const call = modern.callTool("hang", {}, { timeout: 1500 }).catch(() => {});
  const quiet = async (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  await quiet(600);
  expect(made.upstream).toMatchObject({ state: "ready", children: 1 });
  await call;
  await vi.waitFor(() => expect(made.upstream).toMatchObject({ state: "idle", sessions: 0, children: 0 }), patience);
  const stream = modern.listen({ toolsListChanged: true });
  await stream.next();
  await quiet(600);
  expect(made.upstream).toMatchObject({ state: "ready", children: 1 });
  await stream.return?.();
  await vi.waitFor(() => expect(made.upstream).toMatchObject({ state: "idle", children: 0 }), patience);
  const stopped = ledger.pids.length;
  expect(textOf(await modern.callTool("echo", { text: "back" }))).toBe("back");
  expect(ledger.pids).toHaveLength(stopped + 1);
});

it("idleStopMs: never under a question, of a legacy client or of one that has yet to call again", { timeout: 30_000 }, async () => {
  await using made = await openBridge(["http"], { idleStopMs: 100 });
  const url = made.at("http").address;
  const thought = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 700));
  const client = new Client({ name: "slow", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async () => {
    await thought();
    return { action: "accept", content: { answer: "Ada" } };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const asked = await client.callTool({ name: "ask", arguments: { secret: "x" } });
  expect(asked.content).toEqual([{ type: "text", text: "x <- Ada" }]);
  await client.close();

  const call = async (more: JsonObject): Promise<JsonObject> => {
    const _meta = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    const answer = await postModern(url, modern(1, "tools/call", { name: "ask", arguments: { secret: "y" }, _meta, ...more }));
    const text = await answer.text();
    // The result is a body of its own, or the last event of a stream.
    return (JSON.parse(text.slice(text.lastIndexOf('{"jsonrpc"')).trim()) as { result: JsonObject }).result;
  };
  const { resultType, inputRequests, requestState } = (await call({})) as Readonly<Record<string, JsonObject>>;
  expect(resultType).toBe("input_required");
  await thought();
  const [key = ""] = Object.keys(inputRequests ?? {});
  const inputResponses = { [key]: { action: "accept", content: { answer: "Bob" } } };
  expect(await call({ requestState, inputResponses })).toMatchObject({ content: [{ type: "text", text: "y <- Bob" }] });
});

it("idleStopMs: a client with a session of its own does not start the shared one again", { timeout: 30_000 }, async () => {
  const ledger = new Ledger();
  await using made = await openBridge(["http"], { to: ledger.command, idleStopMs: 100 });
  const client = new Client({ name: "asked", version: "1" }, { capabilities: { elicitation: {}, roots: { listChanged: true } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(made.at("http").address)));
  const pid = Number(textOf((await client.callTool({ name: "pid" })) as never));
  // Its stream keeps its own process. Nobody uses the other one.
  const alone = (): Promise<void> => vi.waitFor(() => expect(ledger.pids.filter(alive)).toEqual([pid]), patience);
  await alone();
  const started = ledger.pids.length;
  expect(textOf((await client.callTool({ name: "pid" })) as never)).toBe(String(pid));
  await alone();
  await client.sendRootsListChanged();
  expect(textOf((await client.callTool({ name: "pid" })) as never)).toBe(String(pid));
  expect(ledger.pids).toHaveLength(started);
  await client.close();
});

it("close() stops the child and its descendants", { timeout: 30_000 }, async () => {
  const ledger = new Ledger();
  const { command, args = [] } = ledger.command;
  const made = await openBridge(["http"], { to: { command: "sh", args: ["-c", `sleep 1000 & ${[command, ...args].join(" ")}`] } });
  const [pid] = ledger.pids;
  expect(alive(pid as number)).toBe(true);
  await made.close();
  expect(made.upstream).toMatchObject({ state: "stopped", sessions: 0, children: 0 });
  await nobodyLeft();
  expect(await made.closed).toBeUndefined();
});

it("a bridge that is killed with SIGKILL leaves neither child nor grandchild", { timeout: 30_000 }, async () => {
  const ledger = new Ledger();
  const { command, args = [] } = ledger.command;
  const script = fileURLToPath(new URL("fixtures/bridge.mjs", import.meta.url));
  const line = `sleep 1000 & echo $! >&2; ${[command, ...args].join(" ")}; true`;
  const running = spawn(process.execPath, [script, "sh", "-c", line], { stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  running.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  await new Promise((resolve) => running.stdout.once("data", resolve));
  const [server] = ledger.pids as [number];
  const grandchild = Number(/^\d+$/m.exec(stderr)?.[0]);
  expect([server, grandchild].map(alive)).toEqual([true, true]);
  running.kill("SIGKILL");
  await vi.waitFor(() => expect([server, grandchild].map(alive)).toEqual([false, false]), patience);
});

it("callMs: a call has so long, without the time that its questions wait for a person", { timeout: 30_000 }, async () => {
  await using made = await openBridge(["http"], { callMs: 400 });
  const elicit = async () => {
    await new Promise((resolve) => setTimeout(resolve, 900));
    return { action: "accept" as const, content: { answer: "at last" } };
  };
  await using client = await connect(made.at("http").address, { era: "legacy", elicit });
  await expect(client.callTool("pause", { secret: "x", ms: 20_000 })).rejects.toThrow(/deadline/);
  expect(textOf(await client.callTool("ask", { secret: "x" }))).toBe("x <- at last");
});

it("a server that speaks gRPC on its stdio is started again, and whoever listens goes on", { timeout: 60_000 }, async () => {
  const script = fileURLToPath(new URL("fixtures/grpc-server.mjs", import.meta.url));
  const pids: number[] = [];
  await using made = await openBridge(["http"], {
    to: { command: process.execPath, args: [script], speaks: "grpc+stdio" },
    observe: { child: ({ kind, pid }) => void (kind === "start" && pids.push(pid)) },
  });
  await using client = await connect(made.at("http").address, { era: "modern" });
  const heard: string[] = [];
  const stream = client.listen({ toolsListChanged: true });
  await stream.next();
  void (async () => {
    for await (const { method } of stream) heard.push(method);
  })().catch((fault) => heard.push(String(fault)));
  expect(textOf(await client.callTool("echo"))).toBe("echo");
  process.kill(pids[0] as number, "SIGKILL");
  await vi.waitFor(() => expect(heard).toEqual(["notifications/tools/list_changed"]), patience);
  expect(textOf(await client.callTool("echo"))).toBe("echo");
  expect(pids).toHaveLength(2);
  await client.callTool("grow");
  await vi.waitFor(() => expect(heard).toHaveLength(2), patience);
});
