import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect, type McpClient } from "anywire";
import { atMost, type Bench, type Figure, format, type Outcome } from "./figure.js";
import { type Attack, attacks } from "./hostile/attacks.js";

/** Attackers beside a client that behaves, on the default settings: what the demo server holds, and how long the client waits. */
export const hostile: Bench = { name: "hostile", run };

const MIB = 1024 ** 2;
const MOST_MIB = 512;
/** Milliseconds that a neighbour's ping may take before it counts as unanswered. */
const PATIENCE_MS = 10_000;
const CONNECTIONS = (process.env["CONNECTIONS"] ?? "1,10,100").split(",").map(Number);
/** Milliseconds that an attack goes on. */
const ATTACK_MS = { alone: 8_000, together: 20_000 };

async function run(): Promise<Outcome> {
  const figures: Figure[] = [];
  const notes: string[] = [];
  const measure = async (name: string, chosen: readonly Attack[], ms: number): Promise<void> => {
    for (const connections of CONNECTIONS) {
      const { peak, pings, unanswered, p99, worst } = await attacked(chosen, connections, ms);
      const on = `${name}, ${connections} connection${connections === 1 ? "" : "s"}`;
      figures.push(atMost(`memory above idle: ${on}`, peak / MIB, MOST_MIB, " MiB"));
      figures.push({
        name: `pings of a neighbour without an answer: ${on}`,
        value: `${unanswered}/${pings}`,
        target: "0",
        pass: unanswered === 0,
      });
      notes.push(`${on}: ${format(peak / MIB)} MiB; p99 of the neighbour ${format(p99, 1)} ms, worst ${format(worst, 1)} ms of ${pings}`);
    }
  };
  const only = process.env["HOSTILE"];
  for (const [at, attack] of attacks.entries())
    if (only === undefined || only.split(",").includes(String(at)))
      await measure(`${attack.wire}: ${attack.name}`, [attack], ATTACK_MS.alone);
  if (only === undefined || only.includes("all")) await measure("all of them at once", attacks, ATTACK_MS.together);
  return { figures, notes };
}

interface Seen {
  readonly peak: number;
  readonly pings: number;
  readonly unanswered: number;
  readonly p99: number;
  readonly worst: number;
}

async function attacked(chosen: readonly Attack[], connections: number, ms: number): Promise<Seen> {
  const file = fileURLToPath(new URL("./servers/demo.js", import.meta.url));
  const server = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(server, "exit");
  const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  const [grpc = "", websocket = "", sse = ""] = JSON.parse(line) as string[];
  const addresses = { grpc, tunnel: grpc, websocket, sse };
  const wires = new Set(chosen.map(({ wire }) => (wire === "tunnel" ? "grpc" : wire)));
  const clients = await Promise.all([...wires].map((wire) => connect(addresses[wire])));
  const neighbours = clients.map((client) => neighbour(client));
  await wait(500);
  const idle = resident(server.pid);
  let peak = idle;
  const sampling = setInterval(() => {
    peak = Math.max(peak, resident(server.pid));
  }, 20);
  const attackers = chosen.map((attack) =>
    fork(fileURLToPath(new URL("./hostile/attacker.js", import.meta.url)), [
      String(attacks.indexOf(attack)),
      /:(\d+)/.exec(addresses[attack.wire])?.[1] ?? "",
      String(connections),
    ]),
  );
  await wait(ms);
  peak = Math.max(peak, highWater(server.pid));
  clearInterval(sampling);
  const seen = (await Promise.all(neighbours.map((each) => each.stop()))).flat().sort((a, b) => a - b);
  for (const attacker of attackers) attacker.kill("SIGKILL");
  await Promise.all(clients.map((client) => client.close().catch(() => {})));
  server.kill("SIGKILL");
  await exited;
  const answered = seen.filter((each) => each < PATIENCE_MS);
  return {
    peak: peak - idle,
    pings: seen.length,
    unanswered: seen.length - answered.length,
    p99: seen[Math.floor(seen.length * 0.99)] ?? Number.NaN,
    worst: seen.at(-1) ?? Number.NaN,
  };
}

/** Pings one after the other; gives the milliseconds that each took, and Infinity for one without an answer. */
function neighbour(client: McpClient): { stop(): Promise<number[]> } {
  let stopped = false;
  const times: number[] = [];
  const running = (async () => {
    while (!stopped) {
      const began = performance.now();
      const answered = await client.ping({ signal: AbortSignal.timeout(PATIENCE_MS) }).then(
        () => true,
        (error: unknown) => {
          console.log(`  a ping failed: ${String(error)}`);
          return false;
        },
      );
      times.push(answered ? performance.now() - began : Number.POSITIVE_INFINITY);
      await wait(10);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
      return times;
    },
  };
}

function status(pid: number | undefined, name: string): number {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function resident(pid: number | undefined): number {
  return status(pid, "VmRSS");
}

function highWater(pid: number | undefined): number {
  return status(pid, "VmHWM");
}
