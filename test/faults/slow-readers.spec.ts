import { describe, expect, it } from "vitest";
import { createServer, type JsonObject, progress, type Service, serve } from "../../src/api/index.js";
import { heldBytes } from "../../src/core/index.js";
import { until } from "../http/requests.js";
import type { Era } from "../relay/raw/types.js";
import { listen, type Served, type Talk, talk, toolCall } from "../support/talk.js";

const MIB = 1024 ** 2;
const N = 5_000;
const BYTES = 4_000;
/** What sessions that are kept, their streams and the open calls of a neighbour count. */
const NEIGHBOUR = 64 * 1024;
const wires: readonly [Served, Era][] = [
  ["http", "legacy"],
  ["http", "modern"],
  ["sse", "legacy"],
  ["ws", "legacy"],
  ["ws", "modern"],
  ["proto", "legacy"],
  ["proto", "modern"],
  ["tunnel", "legacy"],
  ["grpc", "legacy"],
  ["grpc", "modern"],
];

function flooding(count = N): { service: Service; state: { made: number; left: boolean } } {
  const state = { made: 0, left: false };
  const service = createServer({ name: "floods", version: "1" })
    .tool("echo", {}, (args) => ({ content: [], structuredContent: args }))
    .tool("flood", {}, async function* () {
      try {
        for (; state.made < count; state.made++) yield progress(state.made, count, "x".repeat(BYTES));
        return "done";
      } finally {
        state.left = state.made < count;
      }
    });
  return { service, state };
}

/** Begins the flood, and stops reading when it has begun. */
async function flooded(raw: Talk, era: Era): Promise<void> {
  raw.send(toolCall(era, "flood", "flood", {}, { _meta: { progressToken: "p" } }));
  await until(() => raw.heard.some(({ method }) => method === "notifications/progress"));
  raw.read(false);
}

const echo = async (raw: Talk, era: Era, id: number): Promise<unknown> => {
  raw.send(toolCall(era, id, "echo", { id }));
  return (await raw.answer(id)).result?.["structuredContent"];
};

const slow = wires.filter(([wire, era]) => wire === "http" || (wire === "grpc" ? era === "modern" : era === "legacy"));

it.each(slow)("a slow reader of a flood over %s, %s: its producer stops, and nothing is lost or out of order", async (wire, era) => {
  const { service, state } = flooding();
  await using listener = await listen(service, wire);
  const [raw, neighbour] = [await talk(listener.address, wire, era), await talk(listener.address, wire, era)];
  await flooded(raw, era);
  for (let id = 0; id < 50; id++) raw.send(toolCall(era, id, "echo", { id }));
  for (let before = -1, id = 0; before !== state.made; ) {
    before = state.made;
    for (const end = Date.now() + 150; Date.now() < end; id++) expect(await echo(neighbour, era, id)).toEqual({ id });
  }
  const [held, made] = [heldBytes(), state.made];
  console.log(`${wire}, ${era}: ${made} of ${N} made, ${(held / 1024).toFixed(0)} KiB held`);
  expect(made).toBeLessThan(N);
  expect(held).toBeLessThanOrEqual(MIB);
  raw.read(true);
  for (let id = 0; id < 50; id++) expect((await raw.answer(id)).result?.["structuredContent"]).toEqual({ id });
  expect((await raw.answer("flood")).result?.["content"]).toMatchObject([{ text: "done" }]);
  const seen = raw.heard
    .filter(({ method }) => method === "notifications/progress")
    .map(({ params }) => (params as JsonObject)["progress"]);
  expect(seen).toEqual(Array.from({ length: N }, (_, at) => at));
  await Promise.all([raw.leave(), neighbour.leave()]);
});

describe.each(wires)("a client of %s, %s that never reads", (wire, era) => {
  // It never waits by itself: were it let run, nothing else would.
  const endless = (): ReturnType<typeof flooding> => flooding(Number.MAX_SAFE_INTEGER);
  // A legacy call over HTTP waits for its client to come back for the rest.
  const waits = wire === "http" && era === "legacy";

  it("fails alone", async () => {
    const { service, state } = endless();
    await using listener = await listen(service, wire, { drainMs: 0, limits: { stalledMs: 300 } });
    const [raw, neighbour] = [await talk(listener.address, wire, era), await talk(listener.address, wire, era)];
    await flooded(raw, era);
    let id = 0;
    let most = 0;
    for (const end = Date.now() + (waits ? 1_000 : 20_000); !(state.left && heldBytes() <= NEIGHBOUR) && Date.now() < end; id++) {
      expect(await echo(neighbour, era, id)).toEqual({ id });
      most = Math.max(most, heldBytes());
    }
    console.log(`${wire}, ${era}: ended after ${id} calls of a neighbour, ${(most / 1024).toFixed(0)} KiB held at most`);
    expect(state.left).toBe(!waits);
    expect(heldBytes()).toBeLessThanOrEqual(NEIGHBOUR);
    expect(most).toBeLessThanOrEqual(MIB);
    await Promise.all([raw.leave(), neighbour.leave()]);
  });

  it("and leaves takes its call along", async () => {
    const { service, state } = endless();
    await using listener = await listen(service, wire, { drainMs: 0 });
    const raw = await talk(listener.address, wire, era);
    await flooded(raw, era);
    for (let before = -1; before !== state.made; await new Promise((resolve) => setTimeout(resolve, 50))) before = state.made;
    await raw.leave();
    await until(() => (waits ? heldBytes() <= NEIGHBOUR : heldBytes() === 0 && state.left));
  });
});

it("a call over http, legacy whose client stays away goes on, and its neighbours are served", async () => {
  const { service, state } = flooding(Number.MAX_SAFE_INTEGER);
  await using listener = await serve(service, "http://127.0.0.1:0/mcp", { drainMs: 0, awayMs: 50 });
  const [raw, neighbour] = [await talk(listener.address, "http", "legacy"), await talk(listener.address, "http", "legacy")];
  await flooded(raw, "legacy");
  await raw.leave();
  const before = state.made;
  await until(() => state.made > before + 1_000);
  for (let id = 0; id < 50; id++) expect(await echo(neighbour, "legacy", id)).toEqual({ id });
  await neighbour.leave();
});
