import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { createServer } from "../../src/api/index.js";
import { END_HEADERS, HEADERS, hpack, RST_STREAM, raw, request } from "../grpc/framing/raw.js";
import { begin, open } from "../http/requests.js";
import { asked, listen, type Served, type Talk, talk, toolCall } from "../support/talk.js";

const portOf = (address: string): number => Number(/:(\d+)/.exec(address)?.[1]);
const p99 = (times: number[]): number => times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] as number;

/** Milliseconds of each call of a neighbour: 200 of them, and on for as long as it is told to. */
async function calls(neighbour: Talk, goesOn: () => boolean = () => false): Promise<number[]> {
  const times: number[] = [];
  while (times.length < 200 || goesOn()) {
    const [id, began] = [`call ${times.length}`, performance.now()];
    neighbour.send(toolCall("modern", id, "echo", { id }));
    expect((await neighbour.answer(id)).result?.["structuredContent"]).toEqual({ id });
    times.push(performance.now() - began);
    neighbour.forget();
  }
  return times;
}

describe.each(["http", "grpc"] as const)("a storm of streams that are opened and reset, on a listener of %s", (wire) => {
  const own: Readonly<Record<string, string>> = {
    ":path": wire === "http" ? "/mcp" : "/mcp.v1.McpService/CallTool",
    ":authority": "localhost",
    "content-type": wire === "http" ? "application/json" : "application/grpc",
  };
  const head = hpack(request.map(([name, value]) => [name, own[name] ?? value]));

  it("has its connection closed, and a neighbour is served meanwhile", async () => {
    const server = createServer({ name: "x", version: "1" }).tool("echo", {}, (args) => ({ content: [], structuredContent: args }));
    await using listener = await listen(server, wire);
    const neighbour = await talk(listener.address, wire, "modern");
    await calls(neighbour);
    const alone = await calls(neighbour);
    const attacker = await raw(portOf(listener.address));
    const frames = Array.from({ length: 20_000 }, (_, at) => [
      attacker.frame(HEADERS, END_HEADERS, 2 * at + 1, head),
      attacker.frame(RST_STREAM, 0, 2 * at + 1, Buffer.of(0, 0, 0, 8)),
    ]);
    let closed = false;
    void attacker.closed.then(() => {
      closed = true;
    });
    attacker.socket.write(Buffer.concat(frames.flat()));
    const beside = await calls(neighbour, () => !closed);
    const [before, meanwhile] = [p99(alone), p99(beside)];
    console.log(
      `${wire}: p99 of a neighbour ${before.toFixed(1)} ms alone, ${meanwhile.toFixed(1)} ms beside, ${(meanwhile / before).toFixed(2)}x (${beside.length} calls)`,
    );
    // Under 2 by itself; a machine that has other things to do gives it more.
    expect(meanwhile / before).toBeLessThan(20);
    expect(attacker.heard.some((each) => each.startsWith("GOAWAY"))).toBe(true);
    await neighbour.leave();
  });
});

it("idle sessions cost at most 50 KiB each", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const held = (): number => {
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const COUNT = 300;
  await using at = await open();
  for (let n = 0; n < 50; n++) await begin(at.url);
  const before = held();
  for (let n = 0; n < COUNT; n += 10) await Promise.all(Array.from({ length: 10 }, () => begin(at.url)));
  const each = (held() - before) / COUNT / 1024;
  console.log(`${COUNT} idle sessions: ${each.toFixed(1)} KiB each`);
  expect(each).toBeLessThan(50);
});

describe("100,000 tools", () => {
  const COUNT = 100_000;
  const server = createServer({ name: "x", version: "1" });
  for (let n = 0; n < COUNT; n++) server.tool(`tool-${n}`, {}, () => "");

  it.each(["http", "ws"] as readonly Served[])("come in pages over %s, and nobody waits for them", async (wire) => {
    await using listener = await listen(server, wire);
    const client = await talk(listener.address, wire, "modern");
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    let [seen, pages, wrong] = [0, 0, 0];
    for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages++) {
      client.send(asked("modern", pages, "tools/list", cursor === undefined ? {} : { cursor }));
      const { tools, nextCursor } = ((await client.answer(pages)).result ?? {}) as { tools: { name: string }[]; nextCursor?: string };
      for (const { name } of tools) if (name !== `tool-${seen++}`) wrong++;
      cursor = nextCursor;
      client.forget();
    }
    delay.disable();
    const [longest, p99th] = [delay.max, delay.percentile(99)].map((ns) => (ns / 1e6).toFixed(0));
    console.log(`${wire}: ${seen} tools in ${pages} pages; longest stall ${longest} ms, p99 ${p99th} ms, that of the reader included`);
    expect([seen, wrong]).toEqual([COUNT, 0]);
    expect(pages).toBeGreaterThan(50);
    await client.leave();
  });
});
