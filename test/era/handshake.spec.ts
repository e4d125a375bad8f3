import { describe, expect, it } from "vitest";
import { createClient, Fault, type JsonObject, meta, resultOf } from "../../src/core/index.js";
import { dialLink } from "../../src/era/index.js";
import { linkPair } from "../../src/wires/memory/index.js";
import { contextOf } from "../calls.js";
import { type Raw, raw, type Single } from "./raw.js";

type Request = Extract<Single, { kind: "request" }>;

const discovered: JsonObject = { supportedVersions: ["2026-07-28"], capabilities: {} };
const initialized: JsonObject = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "slow", version: "1" } };
const error = { code: -32000, message: "no" };

function requestOf(server: Raw, method: string): Promise<Request> {
  return server.find((message): message is Request => message.kind === "request" && message.method === method);
}

describe("a server that is slow to answer the probe", () => {
  async function probed(): Promise<{ server: Raw; dialing: ReturnType<typeof dialLink>; discover: Request; initialize: Request }> {
    const [mine, theirs] = linkPair();
    const server = raw(theirs);
    const dialing = dialLink(mine, { probeMs: 5 });
    dialing.catch(() => {});
    return { server, dialing, discover: await requestOf(server, "server/discover"), initialize: await requestOf(server, "initialize") };
  }

  it.each(["modern", "legacy"] as const)("is what it first said it is: %s", async (era) => {
    const { server, dialing, discover, initialize } = await probed();
    const answers = [
      { jsonrpc: "2.0", id: discover.id, result: discovered },
      { jsonrpc: "2.0", id: initialize.id, result: initialized },
    ] as const;
    for (const answer of era === "modern" ? answers : [...answers].reverse()) await server.send(answer);
    const connection = await dialing;
    expect(connection.era).toBe(era);
    // Once the other answer has had its time.
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
    const result = resultOf(connection.call({ method: "tools/call", params: { name: "x" } }, contextOf()));
    const call = await requestOf(server, "tools/call");
    expect((call.params["_meta"] as JsonObject | undefined)?.[meta.protocolVersion]).toBe(era === "modern" ? "2026-07-28" : undefined);
    expect(server.seen.some((message) => message.kind === "notification" && message.method === "notifications/initialized")).toBe(
      era === "legacy",
    );
    await server.send({ jsonrpc: "2.0", id: call.id, result: {} });
    await result;
    await connection.close();
  });

  it.each([
    ["initialize", "discover"],
    ["discover", "initialize"],
  ] as const)("is given up when %s and then %s fail", async (...order) => {
    const { server, dialing, ...asked } = await probed();
    for (const name of order) await server.send({ jsonrpc: "2.0", id: asked[name].id, error });
    await expect(dialing).rejects.toBeInstanceOf(Fault);
  });
});

describe("a legacy server that asks as soon as it may", () => {
  it("is not told that it is too early", async () => {
    const [mine, theirs] = linkPair();
    const server = raw(theirs);
    const dialing = dialLink(mine, { era: "legacy", client: { capabilities: { roots: {} } } });
    const initialize = await requestOf(server, "initialize");
    await server.send({ jsonrpc: "2.0", id: initialize.id, result: initialized });
    await server.find((message) => message.kind === "notification" && message.method === "notifications/initialized");
    await server.send({ jsonrpc: "2.0", id: 7, method: "ping" });
    await server.send({ jsonrpc: "2.0", id: "r", method: "roots/list" });
    expect(await server.answer(7)).toMatchObject({ kind: "result" });
    // The question waits for the client that is still to come.
    await using _client = await createClient(await dialing, { roots: () => [{ uri: "file:///here" }] });
    expect(await server.answer("r")).toMatchObject({ kind: "result", value: { roots: [{ uri: "file:///here" }] } });
  });
});
