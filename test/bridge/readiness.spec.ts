import { once } from "node:events";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, vi } from "vitest";
import { connect } from "../../src/api/index.js";
import { everythingOverHttp, startBridge } from "../bridge-cli/support.js";
import { again, portIn, restarts } from "../faults/restarted.js";
import { alive, patience } from "../fixtures/children/index.js";
import { Ledger, openBridge } from "./support.js";

const restart = { firstMs: 20, longestMs: 50 };

describe.each(restarts)("%s, %s", (_name, era, start) => {
  it("a lost server is not ready until it is back, which needs no call", { timeout: 30_000 }, async () => {
    const first = await start(era);
    const seen: string[] = [];
    const made = await openBridge(["http"], {
      to: first.address,
      dial: { era },
      restart,
      observe: { upstream: ({ kind }) => void seen.push(kind) },
    });
    const client = new Client({ name: "sdk", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(made.at("http").address)));
    await client.callTool({ name: "echo" });
    expect(await made.upstream.check()).toBe("ready");
    await first.kill();
    // Where a call has a connection of its own, only a call can see that.
    client.callTool({ name: "echo" }).catch(() => {});
    await vi.waitFor(() => expect(made.upstream.state).toBe("backing-off"), patience);
    expect(await made.upstream.check()).toBe("backing-off");
    expect(made.upstream.lastFault).toMatchObject({ code: "unavailable" });
    expect(seen.filter((kind) => kind === "lost")).toHaveLength(1);
    const second = await again(start, era, first);
    await vi.waitFor(() => expect(made.upstream.state).toBe("ready"), patience);
    expect(seen.at(-1)).toBe("restart");
    expect(second.runs.filter((name) => name !== "echo")).toEqual([]);
    expect((await client.callTool({ name: "echo" })).content).toEqual([{ type: "text", text: "done" }]);
    await client.close();
    await made.close();
    await second.kill();
  });
});

it("a server that takes no session has failed until it takes one, which needs no call", {
  timeout: 30_000,
}, async () => {
  const [, , start] = restarts.find(([name]) => name === "websocket") as (typeof restarts)[number];
  const first = await start("legacy");
  const made = await openBridge(["http"], {
    to: first.address,
    sessions: "own",
    lazy: true,
    restart: { ...restart, tries: 3, slowMs: 200 },
  });
  expect(made.upstream.state).toBe("idle");
  await first.kill();
  await expect(connect(made.at("http").address, { era: "legacy" })).rejects.toThrow();
  await vi.waitFor(() => expect(made.upstream.state).toBe("failed"), patience);
  const second = await again(start, "legacy", first);
  await vi.waitFor(() => expect(made.upstream.state).toBe("idle"), patience);
  await made.close();
  await second.kill();
});

it.each(restarts.filter(([name]) => /^(http|websocket|grpc)$/.test(name)))(
  "a check finds a server on %s, %s, that has failed and is back, long before it would be tried again",
  {
    timeout: 60_000,
  },
  async (_name, era, start) => {
    const first = await start(era);
    const slow = { firstMs: 5, longestMs: 5, tries: 2, slowMs: 600_000 };
    const made = await openBridge(["http"], { to: first.address, dial: { era }, restart: slow });
    await first.kill();
    await vi.waitFor(async () => expect(await made.upstream.check()).toBe("failed"), patience);
    const second = await again(start, era, first);
    await vi.waitFor(async () => expect(await made.upstream.check()).toBe("ready"), patience);
    await made.close();
    await second.kill();
  },
);

it("a modern child that nobody calls is started again, too", { timeout: 30_000 }, async () => {
  const ledger = new Ledger("eras=modern");
  await using made = await openBridge(["http"], { to: ledger.command });
  const [pid] = ledger.pids as [number];
  process.kill(pid, "SIGKILL");
  await vi.waitFor(() => expect(ledger.pids.filter(alive)).toHaveLength(1), patience);
  await vi.waitFor(() => expect(made.upstream).toMatchObject({ state: "ready", restarts: 1 }), patience);
});

it("/readyz asks a remote server that nobody calls, and follows it while it is killed and comes back", { timeout: 60_000 }, async () => {
  const server = await everythingOverHttp();
  const bridge = await startBridge(["--listen", "any://127.0.0.1:0", server.url]);
  const ready = async (): Promise<readonly [number, string]> => {
    const answer = await fetch(new URL("/readyz", bridge.at("Streamable HTTP")));
    return [answer.status, await answer.text()];
  };
  expect(await ready()).toEqual([200, "ready\n"]);
  server.child.kill("SIGKILL");
  await once(server.child, "exit");
  await vi.waitFor(async () => expect(await ready()).toEqual([503, "backing-off\n"]), { timeout: 20_000 });
  await bridge.shows("lost the server");
  await everythingOverHttp(portIn(server.url));
  await vi.waitFor(async () => expect(await ready()).toEqual([200, "ready\n"]), { timeout: 20_000 });
  await bridge.shows("the server is back");
});
