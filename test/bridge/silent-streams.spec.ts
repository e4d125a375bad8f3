import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, it, vi } from "vitest";
import { blackHole } from "../faults/black-hole.js";
import { patience } from "../fixtures/children/index.js";
import { rawStreams } from "./fixtures/raw-streams.js";
import { openBridge, type TestBridge } from "./support.js";

const TIMEOUT = { timeout: 60_000 };
const UPDATED = "notifications/resources/updated";

/** A client of the SDK that notes every notification. */
async function watcher(made: TestBridge): Promise<{ client: Client; heard: string[] }> {
  const client = new Client({ name: "watcher", version: "1" });
  const heard: string[] = [];
  client.fallbackNotificationHandler = async ({ method, params }) => void heard.push(`${method} ${JSON.stringify(params ?? {})}`);
  await client.connect(new StreamableHTTPClientTransport(new URL(made.at("http").address)));
  return { client, heard };
}

it("notices that the stream of a legacy HTTP server died silently, opens it again, and passes on what comes there", TIMEOUT, async () => {
  await using server = await rawStreams({ everyMs: 40 });
  await using hole = await blackHole(server.address);
  await using made = await openBridge(["http"], { to: hole.through(server.address), dial: { deadMs: 400 } });
  const { client, heard } = await watcher(made);
  await client.subscribeResource({ uri: "test://a" });
  await vi.waitFor(() => expect(server.gets).toEqual(["s1"]), patience);
  server.say(UPDATED, { uri: "test://a" });
  await vi.waitFor(() => expect(heard).toEqual([`${UPDATED} {"uri":"test://a"}`]), patience);

  hole.swallow("old");
  // This is lost with the connection: nobody can tell.
  server.say("notifications/tools/list_changed");
  await vi.waitFor(() => expect(server.gets).toEqual(["s1", "s1"]), patience);
  // So the client is told that all of it may have changed.
  await vi.waitFor(
    () => expect(heard.slice(1).sort()).toEqual([`${UPDATED} {"uri":"test://a"}`, "notifications/tools/list_changed {}"]),
    patience,
  );
  server.say(UPDATED, { uri: "test://a/1" });
  await vi.waitFor(() => expect(heard.slice(3)).toEqual([`${UPDATED} {"uri":"test://a/1"}`]), patience);
  // The session is the one that it was.
  expect(server.heard.filter((line) => line.startsWith("initialize"))).toHaveLength(1);
  await client.close();
});

it("does not announce what a server with event ids sends again by itself", TIMEOUT, async () => {
  await using server = await rawStreams({ everyMs: 40, ids: true });
  await using hole = await blackHole(server.address);
  await using made = await openBridge(["http"], { to: hole.through(server.address), dial: { deadMs: 400 } });
  const { client, heard } = await watcher(made);
  await vi.waitFor(() => expect(server.gets).toEqual(["s1"]), patience);
  server.say("notifications/tools/list_changed");
  await vi.waitFor(() => expect(heard).toHaveLength(1), patience);
  hole.swallow("old");
  await vi.waitFor(() => expect(server.gets).toEqual(["s1", "s1 e1"]), patience);
  server.refuse(503);
  server.hangUp();
  await vi.waitFor(() => expect(server.gets.length).toBeGreaterThan(3), patience);
  server.refuse(undefined);
  const tries = server.gets.length;
  await vi.waitFor(() => expect(server.gets.length).toBeGreaterThan(tries), patience);
  expect(server.gets.at(-1)).toBe("s1 e1");
  server.say("notifications/tools/list_changed", { _meta: { nth: 2 } });
  await vi.waitFor(() => expect(heard.slice(1)).toEqual(['notifications/tools/list_changed {"_meta":{"nth":2}}']), patience);
  await client.close();
});

it("goes on trying for the stream of a server that is away for long, in the same session", TIMEOUT, async () => {
  await using server = await rawStreams();
  await using made = await openBridge(["http"], { to: server.address });
  const { client, heard } = await watcher(made);
  await vi.waitFor(() => expect(server.gets).toHaveLength(1), patience);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], shouldAdvanceTime: true });
  try {
    server.refuse(502);
    server.hangUp();
    // Some minutes of it.
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(5_000);
      expect(server.gets.length).toBeGreaterThan(20);
    }, patience);
    server.refuse(undefined);
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(5_000);
      expect(heard).toEqual(["notifications/tools/list_changed {}"]);
    }, patience);
  } finally {
    vi.useRealTimers();
  }
  server.say("notifications/tools/list_changed", { _meta: { nth: 2 } });
  await vi.waitFor(() => expect(heard).toHaveLength(2), patience);
  expect(new Set(server.gets)).toEqual(new Set(["s1"]));
  await client.close();
});

it("opens a stream again that a proxy cuts whenever it is idle, however often, and announces nothing", TIMEOUT, async () => {
  await using server = await rawStreams();
  await using made = await openBridge(["http"], { to: server.address });
  const { client, heard } = await watcher(made);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], shouldAdvanceTime: true });
  try {
    for (let cuts = 1; cuts <= 20; cuts++) {
      await vi.waitFor(async () => {
        await vi.advanceTimersByTimeAsync(1_000);
        expect(server.gets).toHaveLength(cuts);
      }, patience);
      await vi.advanceTimersByTimeAsync(60_000);
      server.hangUp();
    }
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(1_000);
      expect(server.gets).toHaveLength(21);
    }, patience);
  } finally {
    vi.useRealTimers();
  }
  expect(heard).toEqual([]);
  server.say("notifications/tools/list_changed");
  await vi.waitFor(() => expect(heard).toEqual(["notifications/tools/list_changed {}"]), patience);
  await client.close();
});
