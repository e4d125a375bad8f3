import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, it, vi } from "vitest";
import { alive, patience } from "../fixtures/children/index.js";
import { Ledger, openBridge, type TestBridge } from "./support.js";

const TIMEOUT = { timeout: 180_000 };

/** A client of the SDK that can be asked, so that it gets a process of its own. Its `close` sends no DELETE. */
async function connected(made: TestBridge, name: string): Promise<Client> {
  const client = new Client({ name, version: "1" }, { capabilities: { elicitation: {} } });
  await client.connect(new StreamableHTTPClientTransport(new URL(made.at("http").address)));
  return client;
}

async function pidOf(client: Client): Promise<number> {
  const { content } = await client.callTool({ name: "pid", arguments: {} });
  return Number((content as { text: string }[])[0]?.text);
}

it("a developer who reconnects 100 times without a DELETE is served each time, by no more processes than may be", TIMEOUT, async () => {
  const ledger = new Ledger();
  const made = await openBridge(["http"], { to: ledger.command });
  let most = 0;
  for (let round = 0; round < 100; round++) {
    const client = await connected(made, `round ${round}`);
    expect(await pidOf(client)).toBeGreaterThan(0);
    most = Math.max(most, ledger.pids.filter(alive).length);
    await client.close();
  }
  expect(ledger.pids).toHaveLength(101);
  expect(most).toBeLessThanOrEqual(64);
  await made.close();
  expect(ledger.pids.filter(alive)).toHaveLength(0);
});

it("the process of a client that closed its stream goes before that of one that never had a stream", TIMEOUT, async () => {
  const ledger = new Ledger();
  await using made = await openBridge(["http"], { to: ledger.command, clientLeftMs: 1000 });
  const clients = await Promise.all(["Ada", "Ben"].map((name) => connected(made, name)));
  const quiet = await silent(made.at("http").address);
  await vi.waitFor(() => expect(ledger.pids.filter(alive)).toHaveLength(4), patience);
  await Promise.all(clients.map((client) => client.close()));
  // The shared one and the third client's stay.
  await vi.waitFor(() => expect(ledger.pids.filter(alive)).toHaveLength(2), patience);
  expect(await quiet("ping")).toBe(200);
});

it("nobody who is there makes room: a stream that is open keeps its session", TIMEOUT, async () => {
  const ledger = new Ledger();
  await using made = await openBridge(["http"], { to: ledger.command, maxUpstreams: 8, maxUpstreamsPerPrincipal: 2 });
  const ada = await connected(made, "Ada");
  const pid = await pidOf(ada);
  const left = await connected(made, "left");
  const gone = await pidOf(left);
  await left.close();
  const ben = await connected(made, "Ben");
  expect(await pidOf(ben)).not.toBe(gone);
  await vi.waitFor(() => expect(alive(gone)).toBe(false), patience);
  // Both that are left are there.
  await expect(connected(made, "Cy")).rejects.toThrow(/maxUpstreamsPerPrincipal is 2/);
  expect(await pidOf(ada)).toBe(pid);
  await Promise.all([ada.close(), ben.close()]);
});

it(
  "a call in flight keeps its session, also when its client never opened a stream; idle, it makes room and is told to begin anew",
  TIMEOUT,
  async () => {
    const ledger = new Ledger();
    await using made = await openBridge(["http"], { to: ledger.command, maxUpstreams: 4, maxUpstreamsPerPrincipal: 1 });
    const ada = await silent(made.at("http").address);
    const hanging = ada("tools/call", { name: "hang", arguments: {} });
    await vi.waitFor(() => expect(ledger.count("tools/call hang")).toBe(1), patience);
    await expect(connected(made, "Ben")).rejects.toThrow(/maxUpstreamsPerPrincipal is 1/);
    await ada("notifications/cancelled", { requestId: 2 }, true);
    await hanging;
    const ben = await connected(made, "Ben");
    expect(await pidOf(ben)).toBeGreaterThan(0);
    expect(await ada("ping")).toBe(404);
    await ben.close();
  },
);

it("a pool makes room for the next client of one that left without a DELETE", TIMEOUT, async () => {
  const ledger = new Ledger();
  await using made = await openBridge(["http"], { to: ledger.command, sessions: { pool: 1 } });
  const ada = await connected(made, "Ada");
  const pid = await pidOf(ada);
  await ada.close();
  const ben = await connected(made, "Ben");
  expect(await pidOf(ben)).not.toBe(pid);
  expect(alive(pid)).toBe(false);
  await ben.close();
});

/** A legacy client that can be asked and never opens a stream. Gives the status of what it sends. */
async function silent(url: string): Promise<(method: string, params?: object, notification?: boolean) => Promise<number>> {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  let id = 0;
  const post = async (method: string, params: object, notification: boolean): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...(notification ? undefined : { id: ++id }), method, params });
    const answer = await fetch(url, { method: "POST", headers, body });
    await answer.text();
    return answer;
  };
  const opened = await post(
    "initialize",
    { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo: { name: "silent", version: "1" } },
    false,
  );
  headers["mcp-session-id"] = opened.headers.get("mcp-session-id") ?? "";
  await post("notifications/initialized", {}, true);
  return async (method, params = {}, notification = false) => (await post(method, params, notification)).status;
}
