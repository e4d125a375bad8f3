import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { connect, type McpClient } from "anywire";
import { RawClient } from "./bridges/client.js";
import { LeanClient } from "./bridges/lean-client.js";
import { cpuOf, forgetPeak, peakOf, residentOf } from "./bridges/proc.js";
import {
  anywire,
  type BridgeProgram,
  installOthers,
  mcpProxy,
  ours,
  type RunningProgram,
  startProgram,
  supergateway,
} from "./bridges/programs.js";
import { child, listening } from "./child.js";
import { atLeast, atMost, type Bench, type Figure, format, type Outcome } from "./figure.js";
import { OctetsCheck } from "./octets.js";
import { median } from "./rounds.js";
import { LARGE, WARM, WORKERS } from "./sizes.js";

/** What a bridge costs: beside those of others in front of a server on stdio, and beside a connection without any. */
export const bridgeSpeed: Bench = { name: "bridge", run };

const ROUNDS = 7;
const CALLS = 1000;
const DIRECT_CALLS = 2000;
/** Calls of each kind before any count. Newer versions of V8 still compile after 10,000, on other threads, and that time counts. */
const WARM_UP = 15_000;
const MIB = 1024 ** 2;
const SESSIONS = 1000;

interface Costs {
  readonly name: string;
  /** Milliseconds of the median call, microseconds of the bridge's processor a call, calls a second with many at a time; in each round. */
  readonly p50: number[];
  readonly cpu: number[];
  readonly rate: number[];
}

async function run(): Promise<Outcome> {
  installOthers();
  const notes: string[] = [];
  const figures: Figure[] = [];
  const add = (part: Outcome): void => {
    figures.push(...part.figures);
    notes.push(...part.notes);
  };
  const chosen = process.env["PARTS"]?.split(",") ?? Object.keys(parts);
  for (const part of chosen) add((await parts[part]?.()) ?? { figures: [], notes: [] });
  return { figures, notes };
}

const parts: Readonly<Record<string, () => Promise<Outcome>>> = {
  others: besideOthers,
  http: () => besideDirect("http"),
  grpc: () => besideDirect("grpc"),
  sessions,
  "large-http": () => large("http", 64),
  "large-grpc": () => large("grpc", 32),
};

async function besideOthers(): Promise<Outcome> {
  const { command, args } = child("raw-stdio");
  const running: { program: BridgeProgram; at: RunningProgram; client: LeanClient; costs: Costs }[] = [];
  try {
    for (const program of [anywire, supergateway, mcpProxy]) {
      const at = await startProgram(program, [command, ...args]);
      const costs = { name: program.name, p50: [], cpu: [], rate: [] };
      running.push({ program, at, client: await LeanClient.open(at.url), costs });
    }
    for (const { client } of running) {
      await many(client, WARM_UP);
      await latencies(client, WARM_UP);
    }
    for (let round = 0; round < ROUNDS; round++)
      for (let turn = 0; turn < running.length; turn++) {
        const { at, client, costs } = running[(turn + round) % running.length] as (typeof running)[number];
        const before = cpuOf(at.pid);
        costs.p50.push(median(await latencies(client, CALLS)));
        costs.cpu.push((cpuOf(at.pid) - before) / CALLS);
        const began = performance.now();
        await many(client, 2 * CALLS);
        costs.rate.push((2000 * CALLS) / (performance.now() - began));
      }
  } finally {
    for (const { at, client } of running) {
      client.close();
      await at[Symbol.asyncDispose]();
    }
  }
  const [own, ...others] = running.map(({ costs }) => costs) as [Costs, ...Costs[]];
  const over = (value: (costs: Costs) => number[], best: (...values: number[]) => number): number =>
    median(value(own).map((mine, round) => mine / best(...others.map((each) => value(each)[round] as number))));
  return {
    figures: [
      atMost(
        "p50 of a call to a stdio server behind HTTP, over the better of two other bridges",
        over(({ p50 }) => p50, Math.min),
        0.5,
        "x",
        2,
      ),
      atMost(
        "processor time of the bridge a call, over the better of them",
        over(({ cpu }) => cpu, Math.min),
        0.25,
        "x",
        2,
      ),
      atLeast(
        `calls a second, ${WORKERS} at a time, over the better of them`,
        over(({ rate }) => rate, Math.max),
        4,
        "x",
      ),
    ],
    notes: [own, ...others].map(
      ({ name, p50, cpu, rate }) =>
        `${name}: p50 ${format(median(p50), 2)} ms, ${format(median(cpu))} us of its processor a call, ${format(median(rate))} calls a second, ${WORKERS} at a time`,
    ),
  };
}

async function latencies(client: LeanClient, times: number): Promise<number[]> {
  const all: number[] = [];
  for (let at = 0; at < times; at++) {
    const began = performance.now();
    await client.echo(`hello ${at}`);
    all.push(performance.now() - began);
  }
  return all;
}

async function many(client: LeanClient, times: number): Promise<void> {
  let left = times;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await client.echo(`hello ${left}`);
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
}

/**
 * The bridge's processor time a call, over that of its client and its server together. The same client and server take less where they are
 * connected without it, because two processes share the cores, not three. That ratio is in the notes.
 */
async function besideDirect(wire: "http" | "grpc"): Promise<Outcome> {
  await using server = await listening("anywire", "plain", wire === "http" ? "http://127.0.0.1:0/mcp" : "grpc://127.0.0.1:0");
  const front: BridgeProgram = {
    name: "Anywire",
    arguments: (_command, port) => ours(`${wire}://127.0.0.1:${port}${wire === "http" ? "/mcp" : ""}`, "--to", server.address),
  };
  await using at = await startProgram(front, []);
  const url = wire === "http" ? at.url : at.url.replace("http:", "grpc:").replace("/mcp", "");
  const [direct, bridged] = [await caller(server.address), await caller(url)];
  const [without, within, around]: [number[], number[], number[]] = [[], [], []];
  try {
    for (const each of [direct, bridged]) await work(each, WARM_UP);
    for (let round = 0; round < ROUNDS; round++) {
      const before = cpuOf(server.pid) + cpuOf(direct.pid as number);
      await work(direct, DIRECT_CALLS);
      const alone = (cpuOf(server.pid) + cpuOf(direct.pid as number) - before) / DIRECT_CALLS;
      const idle = cpuOf(at.pid);
      const ends = cpuOf(server.pid) + cpuOf(bridged.pid as number);
      await work(bridged, DIRECT_CALLS);
      without.push(alone);
      within.push((cpuOf(at.pid) - idle) / DIRECT_CALLS);
      around.push((cpuOf(server.pid) + cpuOf(bridged.pid as number) - ends) / DIRECT_CALLS);
    }
  } finally {
    for (const each of [direct, bridged]) each.disconnect();
  }
  const name = wire === "http" ? "HTTP" : "gRPC";
  const over = (others: readonly number[]): number => median(within.map((mine, round) => mine / (others[round] as number)));
  return {
    figures: [atMost(`processor time of a bridge, ${name} to ${name}, over its client and server`, over(around), 1, "x", 2)],
    notes: [
      `${name} to ${name}: ${format(median(within))} us of the bridge a call, ${format(median(around))} us of its client and server, ${format(median(without))} us of client and server without it; over the latter ${format(over(without), 2)}x`,
    ],
  };
}

async function caller(address: string): Promise<ChildProcess> {
  const made = fork(fileURLToPath(new URL("./bridges/caller.js", import.meta.url)), [address]);
  await once(made, "message");
  return made;
}

async function work(process: ChildProcess, times: number): Promise<void> {
  process.send(times);
  await once(process, "message");
}

async function sessions(): Promise<Outcome> {
  const { command, args } = child("raw-stdio");
  await using at = await startProgram(anywire, [command, ...args]);
  const first = await RawClient.open(at.url);
  await first.text("echo", { text: "there" });
  const one = residentOf(at.pid) / MIB;
  const clients = [first];
  for (let begun = 1; begun < SESSIONS; begun += 37) {
    const some = await Promise.all(Array.from({ length: Math.min(37, SESSIONS - begun) }, () => RawClient.open(at.url, 1)));
    await Promise.all(some.map((client) => client.text("echo", { text: "there" })));
    clients.push(...some);
  }
  const all = residentOf(at.pid) / MIB;
  for (const client of clients) client.close();
  return {
    figures: [
      atMost("memory of a bridge with 1 session", one, 110, " MiB"),
      atMost(`memory of a bridge with ${format(SESSIONS)} sessions on one child`, all, 170, " MiB"),
    ],
    notes: [],
  };
}

async function large(wire: "http" | "grpc", most: number): Promise<Outcome> {
  const { command, args } = child("anywire", "plain");
  await using server = wire === "grpc" ? await listening("anywire", "plain", "grpc://127.0.0.1:0") : undefined;
  const behind = server === undefined ? ["--", command, ...args] : ["--to", server.address];
  const path = wire === "http" ? "/mcp" : "";
  await using at = await startProgram(
    { name: "Anywire", arguments: (_command, port) => ours(`${wire}://127.0.0.1:${port}${path}`, ...behind) },
    [],
  );
  await using client = await connect(wire === "http" ? at.url : at.url.replace("http:", "grpc:").replace("/mcp", ""), { era: "modern" });
  await whole(client, WARM);
  const idle = residentOf(at.pid);
  forgetPeak(at.pid);
  const began = performance.now();
  await whole(client, LARGE);
  const seconds = (performance.now() - began) / 1000;
  const grown = (peakOf(at.pid) - idle) / MIB;
  const way = wire === "http" ? "HTTP to stdio" : "gRPC to gRPC";
  return {
    figures: [atMost(`memory of a bridge while 1 GiB passes, ${way}`, grown, most, " MiB", 1)],
    notes: [`1 GiB, ${way}: ${format(LARGE / MIB / seconds)} MiB a second, ${format(idle / MIB)} MiB resident before`],
  };
}

async function whole(client: McpClient, size: number): Promise<void> {
  const check = new OctetsCheck();
  for await (const { data } of client.readChunks(`bench://octets/wide/${size}`)) check.add(data as Uint8Array);
  check.finish(size);
}
