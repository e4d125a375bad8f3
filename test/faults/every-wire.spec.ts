import { describe, expect, it } from "vitest";
import { createServer, type Service } from "../../src/api/index.js";
import { until } from "../http/requests.js";
import type { Era } from "../relay/raw/types.js";
import { listen, type Served, talk, toolCall } from "../support/talk.js";

const both: readonly Era[] = ["legacy", "modern"];
const pairs = (wires: readonly Served[]): [Served, Era][] =>
  wires.flatMap((wire) => both.filter((era) => era === "legacy" || wire !== "sse").map((era): [Served, Era] => [wire, era]));

/** A tool that echoes, and one that waits until it is let through, or is cancelled. */
function lab(): { service: Service; waiting: Set<unknown>; cancelled: Set<unknown>; go(): void } {
  const waiting = new Set<unknown>();
  const cancelled = new Set<unknown>();
  let go = (): void => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const service = createServer({ name: "lab", version: "1" })
    .tool("echo", {}, (args) => ({ content: [], structuredContent: args }))
    .tool("wait", {}, async (args, { signal }) => {
      const key = args["key"];
      waiting.add(key);
      await Promise.race([gate, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
      if (signal.aborted) cancelled.add(key);
      return { content: [], structuredContent: args };
    });
  return { service, waiting, cancelled, go };
}

describe("the id of a live call comes again", () => {
  // A modern request over HTTP and an RPC have their answers to themselves: their ids may be the same.
  const shared = pairs(["http", "sse", "ws", "tunnel", "grpc", "proto"]).filter(([wire, era]) => wire !== "http" || era === "legacy");

  it.each(shared)("over %s, %s: each further one is refused, and the live call gets its own answer", async (wire, era) => {
    const N = 100;
    const { service, waiting, go } = lab();
    await using listener = await listen(service, wire);
    const raw = await talk(listener.address, wire, era);
    raw.send(toolCall(era, "live", "wait", { key: "live" }));
    await until(() => waiting.has("live"));
    for (let n = 0; n < N; n++) {
      raw.send(toolCall(era, "live", "echo", { wrong: n }));
      raw.send(toolCall(era, n, "echo", { n }));
    }
    const answers = (id: unknown) => raw.heard.filter((message) => message.id === id);
    for (let n = 0; n < N; n++) expect((await raw.answer(n)).result?.["structuredContent"]).toEqual({ n });
    await until(() => answers("live").length === N);
    expect(new Set(answers("live").map(({ error }) => error?.code))).toEqual(new Set([-32600]));
    go();
    await until(() => answers("live").length > N);
    const own = answers("live").slice(N);
    const misrouted = raw.heard.filter(({ result }) => "wrong" in ((result?.["structuredContent"] ?? {}) as object)).length;
    console.log(`${wire}, ${era}: ${N} of ${N} refused, ${misrouted} misrouted`);
    expect([own.map(({ result }) => result?.["structuredContent"]), misrouted]).toEqual([[{ key: "live" }], 0]);
    await raw.leave();
  });
});

describe("a client goes away in the middle of its calls", () => {
  const N = 20;
  it.each(pairs(["http", "sse", "ws", "tunnel", "grpc", "unary", "connect", "proto"]))("over %s, %s", async (wire, era) => {
    const { service, waiting, cancelled, go } = lab();
    await using listener = await listen(service, wire);
    const [raw, neighbour] = [await talk(listener.address, wire, era), await talk(listener.address, wire, era)];
    for (let key = 0; key < N; key++) raw.send(toolCall(era, key, "wait", { key }));
    neighbour.send(toolCall(era, 0, "wait", { key: "neighbour" }));
    await until(() => waiting.size === N + 1);
    await raw.leave();
    // A legacy session over HTTP goes on: its answers can be had later. Every other call ends with its client.
    const goesOn = wire === "http" && era === "legacy";
    if (!goesOn) await until(() => cancelled.size === N);
    neighbour.send(toolCall(era, 1, "echo", { still: "here" }));
    expect((await neighbour.answer(1)).result?.["structuredContent"]).toEqual({ still: "here" });
    console.log(`${wire}, ${era}: ${cancelled.size} of ${N} calls cancelled`);
    expect(cancelled.size).toBe(goesOn ? 0 : N);
    go();
    expect((await neighbour.answer(0)).result?.["structuredContent"]).toEqual({ key: "neighbour" });
    await neighbour.leave();
  });
});
