import { cpus } from "node:os";
import { performance } from "node:perf_hooks";
import { bridgeSpeed } from "./bridge-speed.js";
import { bridges } from "./bridges.js";
import { budgets } from "./budgets.js";
import { burst } from "./burst.js";
import { echo } from "./echo.js";
import { far } from "./far.js";
import type { Bench, Figure } from "./figure.js";
import { first } from "./first.js";
import { grpc } from "./grpc.js";
import { codec } from "./grpc-codec.js";
import { grpcFraming } from "./grpc-framing.js";
import { hostile } from "./hostile.js";
import { http } from "./http.js";
import { httpStdio } from "./http-stdio.js";
import { leaks } from "./leaks.js";
import { list } from "./list.js";
import { numbers } from "./numbers.js";
import { observe } from "./observe.js";
import { proto } from "./proto.js";
import { read } from "./read.js";
import { remote } from "./remote.js";
import { start } from "./start.js";
import { transfer } from "./transfer.js";
import { waist } from "./waist.js";

// Runs the benches that the arguments name, or all, and prints each figure beside its target. Exits with 1 if one is missed.
const benches: readonly Bench[] = [
  first,
  start,
  read,
  echo,
  list,
  waist,
  burst,
  http,
  httpStdio,
  transfer,
  far,
  codec,
  numbers,
  grpc,
  grpcFraming,
  leaks,
  observe,
  hostile,
  budgets,
  bridges,
  bridgeSpeed,
  remote,
  proto,
];

const names = process.argv.slice(2);
const unknown = names.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(", ")}; there are ${benches.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}

/** Minutes after which something hangs. */
const LIMIT = 25;
const watchdog = setTimeout(() => {
  console.error(`the benches did not end within ${LIMIT} minutes`);
  process.exit(3);
}, LIMIT * 60_000);

const began = performance.now();
const figures: Figure[] = [];
for (const bench of benches.filter(({ name }) => names.length === 0 || names.includes(name))) {
  console.log(`${bench.name} ...`);
  const outcome = await bench.run();
  for (const note of outcome.notes) console.log(`  ${note}`);
  figures.push(...outcome.figures);
}
clearTimeout(watchdog);
const model = cpus()[0]?.model ?? "unknown";
console.log(`\nNode ${process.version}, ${cpus().length} cores (${model}), ${Math.round((performance.now() - began) / 1000)} s\n`);
print(figures);
process.exitCode = figures.every(({ pass }) => pass) ? 0 : 1;

function print(rows: readonly Figure[]): void {
  const width = (column: (figure: Figure) => string): number => Math.max(...rows.map((row) => column(row).length));
  const [name, value, target] = [width((row) => row.name), width((row) => row.value), width((row) => row.target)];
  for (const row of rows)
    console.log(`${row.name.padEnd(name)}  ${row.value.padStart(value)}  ${row.target.padEnd(target)}  ${row.pass ? "PASS" : "MISS"}`);
}
