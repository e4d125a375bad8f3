import { spawn } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import type { Message } from "./bridges/client.js";
import { residentOf } from "./bridges/proc.js";
import { anywire, installOthers, mcpRemote, ours, startProgram } from "./bridges/programs.js";
import { child } from "./child.js";
import { type Bench, format, type Outcome } from "./figure.js";

/** A client on stdio and a server on HTTP: what `anywire bridge --listen stdio:` costs beside mcp-remote. */
export const remote: Bench = { name: "remote", run };

const CALLS = 2000;
const AT_A_TIME = 64;
const BURSTS = 6;
const PROGRESS = 20;

interface Seen {
  readonly firstMs: number;
  readonly p50: number;
  readonly rate: number;
  readonly worstBurst: number;
  readonly megabytes: number;
}

async function run(): Promise<Outcome> {
  installOthers();
  const { command, args } = child("raw-stdio");
  await using server = await startProgram(anywire, [command, ...args]);
  const own = await measured(ours("stdio:", server.url));
  const other = await measured(mcpRemote(server.url));
  const rows = { Anywire: own, "mcp-remote 0.15.1": other };
  return {
    figures: [
      {
        name: "calls per second from stdio to HTTP, 64 at a time, over mcp-remote",
        value: `${format(own.rate / other.rate, 2)}x`,
        target: ">= 1.0x",
        pass: own.rate >= other.rate,
      },
      {
        name: "burst of 20 progress, the worst of 6 calls",
        value: `${own.worstBurst}/${PROGRESS}`,
        target: `${PROGRESS}/${PROGRESS}`,
        pass: own.worstBurst === PROGRESS,
      },
    ],
    notes: Object.entries(rows).map(
      ([name, { firstMs, p50, rate, worstBurst, megabytes }]) =>
        `${name}: first answer after ${format(firstMs)} ms, p50 ${format(p50, 2)} ms, ${format(rate)} calls per second, 64 at a time, ` +
        `${worstBurst} of ${PROGRESS} progress in a burst, ${format(megabytes)} MB resident`,
    ),
  };
}

/** Runs a bridge on stdio, with a client of bare lines. */
async function measured(words: readonly string[]): Promise<Seen> {
  const began = performance.now();
  const bridge = spawn(process.execPath, [...words], { stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map<number, (progress: number) => void>();
  const progress = new Map<unknown, number>();
  createInterface({ input: bridge.stdout }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line) as Message;
    if (method === "notifications/progress") progress.set(params?.progressToken, (progress.get(params?.progressToken) ?? 0) + 1);
    if (method !== undefined || typeof id !== "number") return;
    waiting.get(id)?.(progress.get(id) ?? 0);
    waiting.delete(id);
  });
  let last = 0;
  /** Resolves to the progress notifications that came before the answer. */
  const ask = (method: string, params: object, watched = false): Promise<number> => {
    const id = ++last;
    const answered = new Promise<number>((resolve) => waiting.set(id, resolve));
    bridge.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", id, method, params: watched ? { ...params, _meta: { progressToken: id } } : params })}\n`,
    );
    return answered;
  };
  const echo = (): Promise<number> => ask("tools/call", { name: "echo", arguments: { text: "hello" } });

  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } });
  bridge.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  await echo();
  const firstMs = performance.now() - began;

  const times: number[] = [];
  for (let call = 0; call < CALLS / 4; call++) {
    const start = performance.now();
    await echo();
    times.push(performance.now() - start);
  }
  const p50 = times.sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN;

  let left = CALLS;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      while (left-- > 0) await echo();
    }),
  );
  const rate = (CALLS * 1000) / (performance.now() - start);

  let worstBurst = PROGRESS;
  for (let round = 0; round < BURSTS; round++)
    worstBurst = Math.min(worstBurst, await ask("tools/call", { name: "burst", arguments: {} }, true));
  const megabytes = residentOf(bridge.pid ?? 0) / 1e6;
  const exited = once(bridge, "exit");
  bridge.kill();
  await exited;
  return { firstMs, p50, rate, worstBurst, megabytes };
}
