import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { atMost, type Bench, type Figure, format, type Outcome } from "./figure.js";
import type { Peak } from "./memory.js";
import { LARGE } from "./sizes.js";

/** What one reading process tells of itself and, where that is another process, of its server. */
export interface ReadReport {
  readonly seconds: number;
  readonly client: Peak;
  readonly server?: Peak;
}

/** `alone` is the floor: the same source in a bare loop, for V8 lets garbage of that kind grow before it collects it. */
export type ReadMode = "memory" | "stdio" | "http" | "alone";

/** The most memory above idle that each process takes to read a large resource as chunks. */
export const read: Bench = { name: "read", run };

const MIB = 1024 ** 2;
const start = promisify(execFile);

async function run(): Promise<Outcome> {
  const { client: alone } = await reading("alone");
  const [memory, stdio] = [await readOver("memory", 16), await readOver("stdio", 64)];
  return {
    figures: [...memory.figures, ...stdio.figures],
    notes: [tell("the source alone, without Anywire", alone), ...memory.notes, ...stdio.notes],
  };
}

/** Reads over one wire; `most` is the target, in MiB. */
export async function readOver(wire: Exclude<ReadMode, "alone">, most: number): Promise<Outcome> {
  const figures: Figure[] = [];
  const notes: string[] = [];
  const { seconds, client, server } = await reading(wire);
  const add = (name: string, peak: Peak): void => {
    figures.push(atMost(`memory to read ${LARGE / 1024 ** 3} GiB, ${name}`, (peak.rss - peak.idle) / MIB, most, " MiB", 1));
    notes.push(tell(name, peak));
  };
  if (server === undefined) add(`${wire} wire`, client);
  else {
    add(`${wire}, client`, client);
    add(`${wire}, server`, server);
  }
  notes.push(`${wire}: ${format(LARGE / MIB / seconds)} MiB a second`);
  return { figures, notes };
}

function tell(name: string, { idle, rss, idleHeap, heap }: Peak): string {
  const most = `+${format((rss - idle) / MIB, 1)} MiB resident (${format(idle / MIB)} -> ${format(rss / MIB)})`;
  return `${name}: ${most}, +${format((heap - idleHeap) / MIB, 1)} MiB of heap and buffers`;
}

/** In a process of its own, so that nothing else is in its memory. */
async function reading(mode: ReadMode): Promise<ReadReport> {
  const file = fileURLToPath(new URL("./read-one.js", import.meta.url));
  const { stdout } = await start(process.execPath, [file, mode], { timeout: 300_000 });
  return JSON.parse(stdout) as ReadReport;
}
