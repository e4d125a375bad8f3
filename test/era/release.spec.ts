import { describe, expect, it } from "vitest";
import { type Connection, type JsonObject, RELEASE } from "../../src/core/index.js";
import { dialLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { contextOf } from "../calls.js";
import { type Raw, raw, type Single } from "./raw.js";

type Request = Extract<Single, { kind: "request" }>;
type Notification = Extract<Single, { kind: "notification" }>;

async function dialed(): Promise<{ server: Raw; connection: Connection }> {
  const [mine, theirs] = linkPair();
  const server = raw(theirs);
  const dialing = dialLink(mine, { era: "modern" });
  const { id } = await requestOf(server, "server/discover");
  const extensions = { "dev.anywire/window": {} };
  await server.send({ jsonrpc: "2.0", id, result: { supportedVersions: ["2026-07-28"], capabilities: { extensions } } });
  return { server, connection: await dialing };
}

function requestOf(server: Raw, method: string): Promise<Request> {
  return server.find((message): message is Request => message.kind === "request" && message.method === method);
}

function notificationOf(server: Raw, method: string): Promise<Notification> {
  return server.find((message): message is Notification => message.kind === "notification" && message.method === method);
}

describe("what a server keeps for a caller that left", () => {
  const results: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ["tools/list", { tools: [], nextCursor: "c" }, { method: "tools/list", cursor: "c" }],
    ["tools/call", { resultType: "input_required", requestState: "aw1.x" }, { requestState: "aw1.x" }],
  ];

  it.each(results)("is let go of when the result of %s crosses with the cancel", async (method, result, released) => {
    const { server, connection } = await dialed();
    const replies = connection.call({ method, params: {} }, contextOf());
    void replies.next();
    const { id } = await requestOf(server, method);
    await replies.return();
    await notificationOf(server, "notifications/cancelled");
    await server.send({ jsonrpc: "2.0", id, result });
    expect(await notificationOf(server, RELEASE)).toMatchObject({ params: released });
    await connection.close();
  });

  it("is let go of when the result waits for a reader that leaves", async () => {
    const { server, connection } = await dialed();
    const replies = connection.call({ method: "tools/call", params: {} }, contextOf({ progress: true }));
    const first = replies.next();
    const { id } = await requestOf(server, "tools/call");
    await server.send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: id, progress: 1 } });
    await server.send({ jsonrpc: "2.0", id, result: { resultType: "input_required", requestState: "aw1.x" } });
    await first;
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
    await replies.return();
    expect(await notificationOf(server, RELEASE)).toMatchObject({ params: { requestState: "aw1.x" } });
    await connection.close();
  });

  it("is not let go of when its reader was told how to come back", async () => {
    const { server, connection } = await dialed();
    const replies = connection.call({ method: "tools/list", params: {} }, contextOf());
    const first = replies.next();
    const { id } = await requestOf(server, "tools/list");
    await server.send({ jsonrpc: "2.0", id, result: { tools: [], nextCursor: "c" } });
    expect((await first).value).toMatchObject({ kind: "page", cursor: "c" });
    await replies.return();
    await connection.notify({ method: "notifications/last", params: {} }, contextOf());
    await notificationOf(server, "notifications/last");
    expect(server.seen.some((message) => message.kind === "notification" && message.method === RELEASE)).toBe(false);
    await connection.close();
  });
});
