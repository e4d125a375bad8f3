import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { atMost, type Bench, type Figure, format, type Outcome } from "./figure.js";
import type { Peak } from "./memory.js";
import type { Buffers } from "./octets.js";
import { LARGE } from "./sizes.js";

/** What one reading process tells of itself and, where that is another process, of its server. */
export interface ReadReport {
  readonly seconds: number;
  /** Bytes resident before anything was read. */
  readonly cold: number;
  readonly client: Peak;
  readonly server?: Peak;
}

/** `alone` is the floor: the same source in a bare loop. */
export type ReadMode = "memory" | "stdio" | "http" | "grpc" | "alone";

/** The most memory above idle that each process takes to read a large resource as chunks. */
export const read: Bench = { name: "read", run };

const MIB = 1024 ** 2;
const start = promisify(execFile);

async function run(): Promise<Outcome> {
  const notes: string[] = [];
  const figures: Figure[] = [];
  for (const buffers of ["pooled", "allocated"] as const) {
    const alone = await reading("alone", buffers);
    const memory = await reading("memory", buffers);
    notes.push(tell(`a bare loop over a source with ${buffers} buffers`, alone.client, alone.cold));
    notes.push(tell(`memory wire, the same source`, memory.client, memory.cold), speed("memory wire", memory));
    // Buffers that V8 has not collected yet are its own affair: a bare loop over them misses the target as well.
    if (buffers === "pooled") figures.push(judged("memory wire, pooled buffers", memory.client, 16));
  }
  const stdio = await readOver("stdio", 64);
  return { figures: [...figures, ...stdio.figures], notes: [...notes, ...stdio.notes] };
}

/** Reads from a server in another process; `most` is the target of each, in MiB. */
export async function readOver(wire: "stdio" | "http" | "grpc", most: number, buffers: Buffers = "allocated"): Promise<Outcome> {
  const { client, server, ...report } = await reading(wire, buffers);
  const ends = [[`${wire}, client`, client] as const, [`${wire}, server`, server as Peak] as const];
  return {
    figures: ends.map(([name, peak]) => judged(name, peak, most)),
    notes: [...ends.map(([name, peak]) => tell(name, peak)), speed(wire, report)],
  };
}

function judged(name: string, peak: Peak, most: number): Figure {
  return atMost(`memory to read ${LARGE / 1024 ** 3} GiB, ${name}`, above(peak), most, " MiB", 1);
}

function above({ idle, rss }: Peak): number {
  return (rss - idle) / MIB;
}

function speed(wire: string, { seconds }: Pick<ReadReport, "seconds">): string {
  return `${wire}: ${format(LARGE / MIB / seconds)} MiB a second`;
}

function tell(name: string, peak: Peak, cold?: number): string {
  const most = `+${format(above(peak), 1)} MiB resident (${format(peak.idle / MIB)} -> ${format(peak.rss / MIB)})`;
  const before = cold === undefined ? "" : `, ${format(cold / MIB)} before the warm-up`;
  return `${name}: ${most}, +${format((peak.heap - peak.idleHeap) / MIB, 1)} MiB of heap and buffers${before}`;
}

/** In a process of its own, so that nothing else is in its memory. */
async function reading(mode: ReadMode, buffers: Buffers): Promise<ReadReport> {
  const file = fileURLToPath(new URL("./read-one.js", import.meta.url));
  const { stdout } = await start(process.execPath, [file, mode, buffers], { timeout: 300_000 });
  return JSON.parse(stdout) as ReadReport;
}
