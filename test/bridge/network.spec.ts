import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, vi } from "vitest";
import { createServer, serve } from "../../src/api/index.js";
import type { HttpAuth } from "../../src/oauth/index.js";
import { again, restarts } from "../faults/restarted.js";
import { patience } from "../fixtures/children/index.js";
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
