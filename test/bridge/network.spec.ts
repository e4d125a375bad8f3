import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, vi } from "vitest";
import { createServer, serve } from "../../src/api/index.js";
import type { HttpAuth } from "../../src/oauth/index.js";
import { again, restarts } from "../faults/restarted.js";
import { patience } from "../fixtures/children/index.js";
import { cuttable } from "../identity/cuttable.js";
import { grpcServer } from "../relay/raw/grpc-server.js";
import { openBridge } from "./support.js";

const URI = "test://live";

describe.each(restarts)("a server on %s, %s, that is killed and started again behind a bridge", (_name, era, start) => {
  it("calls fail once, none runs again, and a client of the SDK goes on in its session", { timeout: 60_000 }, async () => {
    const first = await start(era);
    await using made = await openBridge(["http"], { to: first.address, dial: { era } });
    const client = new Client({ name: "sdk", version: "1" });
    const heard: string[] = [];
    client.fallbackNotificationHandler = async ({ method }) => void heard.push(method);
    await client.connect(new StreamableHTTPClientTransport(new URL(made.at("http").address)));
    await client.subscribeResource({ uri: URI });
    first.update(URI);
    await vi.waitFor(() => expect(heard).toEqual(["notifications/resources/updated"]), patience);
    const outcomes: unknown[] = [];
    void client.callTool({ name: "hang" }).then(
      (result) => outcomes.push(result),
      (fault) => outcomes.push(fault),
    );
    await vi.waitFor(() => expect(first.runs).toEqual(["hang"]), patience);
    await first.kill();
    await vi.waitFor(() => expect(outcomes).toHaveLength(1), patience);
    expect(outcomes[0]).toBeInstanceOf(Error);

    const second = await again(start, era, first);
    await vi.waitFor(
      () => expect(new Set(heard.slice(1))).toEqual(new Set(["notifications/resources/updated", "notifications/tools/list_changed"])),
      patience,
    );
    const { content } = await client.callTool({ name: "echo" });
    expect(content).toEqual([{ type: "text", text: "done" }]);
    expect(second.runs).toEqual(["echo"]);
    const before = heard.length;
    second.update(URI);
    await vi.waitFor(() => expect(heard.length).toBe(before + 1), patience);
    expect(outcomes).toHaveLength(1);
    expect(made.upstream).toMatchObject({ state: "ready", sessions: 1, children: 0 });
    await client.close();
    await made.close();
    await second.kill();
  });
});

it.each(["http", "ws", "sse+http"])(
  "%s: a server that wants a fresh token gets one, and the call goes on",
  { timeout: 30_000 },
  async (scheme) => {
    let good = "first";
    let token = good;
    let challenged = 0;
    const server = createServer({ name: "guarded", version: "1" });
    server.tool("echo", {}, () => "echo");
    await using upstream = await serve(server, `${scheme}://127.0.0.1:0`, {
      auth: { verify: (token) => (token === good ? { id: "bridge" } : undefined), recheckMs: 50 },
    });
    const auth: HttpAuth = {
      headers: async () => ({ authorization: `Bearer ${token}` }),
      async challenged() {
        challenged++;
        token = good;
        return true;
      },
    };
    await using made = await openBridge(["http"], { to: upstream.address, dial: { auth } });
    const client = new Client({ name: "sdk", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(made.at("http").address)));
    await client.callTool({ name: "echo" });
    good = "second";
    await vi.waitFor(async () => {
      expect((await client.callTool({ name: "echo" })).content).toEqual([{ type: "text", text: "echo" }]);
      expect(challenged).toBe(1);
    }, patience);

    await client.close();
  },
);

it("a gRPC server that says goodbye to each connection after a while loses no call", { timeout: 30_000 }, async () => {
  const runs: string[] = [];
  const ages = { "grpc.max_connection_age_ms": 100, "grpc.max_connection_age_grace_ms": 10_000 };
  const server = await grpcServer(
    "modern",
    (text) => {
      const { id, method, params } = JSON.parse(text) as { id?: string; method?: string; params?: { name?: string } };
      const answer = (result: object): void =>
        server.send(JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", ...result } }), JSON.stringify(id));
      if (method === "server/discover") answer({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
      if (method !== "tools/call") return;
      runs.push(String(params?.name));
      setTimeout(answer, 20, { content: [{ type: "text", text: String(params?.name) }] });
    },
    0,
    ages,
  );
  const between = await cuttable(Number(/:(\d+)/.exec(String(server.address))?.[1]));
  const made = await openBridge(["http"], { to: `grpc://127.0.0.1:${between.port}`, dial: { era: "modern", calls: "rpc" } });
  const client = new Client({ name: "sdk", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(made.at("http").address)));
  const asked: string[] = [];
  while (between.count < 4) {
    const name = `call ${asked.length}`;
    asked.push(name);
    expect((await client.callTool({ name })).content).toEqual([{ type: "text", text: name }]);
  }
  expect(runs).toEqual(asked);
  await client.close();
  await made.close();
  await between.close();
  await server.close();
});
