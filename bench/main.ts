import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { benches } from "./benches.js";
import type { Figure, Outcome } from "./figure.js";

// Runs the benches that the arguments name, or all, and prints each figure beside its target. Exits with 1 if one is missed.
const names = process.argv.slice(2);
const unknown = names.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(", ")}; there are ${benches.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

/** Minutes after which something hangs. */
const LIMIT = 25;
let running: ChildProcess | undefined;
const watchdog = setTimeout(() => {
  console.error(`the benches did not end within ${LIMIT} minutes`);
  running?.kill();
  process.exit(3);
}, LIMIT * 60_000);

const began = performance.now();
const figures: Figure[] = [];
for (const bench of benches.filter(({ name }) => names.length === 0 || names.includes(name))) {
  console.log(`${bench.name} ...`);
  const outcome = await inItsProcess(bench.name);
  for (const note of outcome.notes) console.log(`  ${note}`);
  figures.push(...outcome.figures);
}
clearTimeout(watchdog);
const model = cpus()[0]?.model ?? "unknown";
console.log(`\nNode ${process.version}, ${cpus().length} cores (${model}), ${Math.round((performance.now() - began) / 1000)} s\n`);
print(figures);
process.exitCode = figures.every(({ pass }) => pass) ? 0 : 1;

/** A bench leaves compiled code and memory behind. In a process of its own it measures the same in a run of all as in a run of one. */
async function inItsProcess(name: string): Promise<Outcome> {
  running = fork(fileURLToPath(new URL("./one.js", import.meta.url)), [name]);
  const exited = once(running, "exit");
  const [outcome] = await Promise.race([
    once(running, "message"),
    exited.then(([code]) => {
      throw new Error(`the bench ${name} ended with ${code} and no figures`);
    }),
  ]);
  await exited;
  return outcome as Outcome;
}

function print(rows: readonly Figure[]): void {
  const width = (column: (figure: Figure) => string): number => Math.max(...rows.map((row) => column(row).length));
  const [name, value, target] = [width((row) => row.name), width((row) => row.value), width((row) => row.target)];
  for (const row of rows)
    console.log(`${row.name.padEnd(name)}  ${row.value.padStart(value)}  ${row.target.padEnd(target)}  ${row.pass ? "PASS" : "MISS"}`);
}
