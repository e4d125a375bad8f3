import { fork } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import bundlePrograms from "../test-programs.mjs";
import { tables } from "./tables.mjs";

// Every listen × every upstream × both eras through bridges: npm run matrix -- [--only listen,upstream] [--part TEXT] [--again] [--minutes N] [--workers N]
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    part: { type: "string", default: "" },
    again: { type: "boolean", default: false },
    minutes: { type: "string", default: "60" },
    workers: { type: "string", default: "2" },
  },
});
const file = fileURLToPath(new URL("../../.cache/matrix.json", import.meta.url));
const worker = fileURLToPath(new URL("worker.mjs", import.meta.url));
/** Milliseconds after which a cell counts as hung; its worker is ended. */
const CELL_MS = 240_000;
const until = Date.now() + Number(values.minutes) * 60_000;

function kept() {
  if (values.again && values.only === undefined && values.part === "") return {};
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

/** What is known of each cell, by its id. */
const results = kept();
function keep(id, result) {
  results[id] = result;
  mkdirSync(fileURLToPath(new URL("../../.cache", import.meta.url)), { recursive: true });
  writeFileSync(file, JSON.stringify(results, undefined, 1));
}

await bundlePrograms();

/** A worker that has loaded the cells. */
async function started() {
  const child = fork(worker, { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  child.stderr.resume();
  const { cells } = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", (code) => reject(new Error(`the worker ended with code ${code}`)));
  });
  return { child, cells };
}

/** Gives a worker a cell; undefined if it hung or took the worker with it. */
function runIn(child, id) {
  return new Promise((resolve) => {
    const stray = [];
    const done = (result) => {
      clearTimeout(timer);
      child.off("message", take);
      child.off("exit", ended);
      resolve(result);
    };
    const take = (message) => {
      if ("stray" in message) stray.push(`unhandled: ${message.stray}`);
      else done({ wrong: [...message.wrong, ...stray], ms: message.ms });
    };
    const ended = (code) => done({ wrong: [...stray, `the worker ended with code ${code}`], ms: 0, lost: true });
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      done({ wrong: [...stray, `hung: nothing within ${CELL_MS / 1000} s`], ms: CELL_MS, lost: true });
    }, CELL_MS);
    child.on("message", take);
    child.once("exit", ended);
    child.send(id);
  });
}

function isWanted({ id, ends }) {
  const [listen = "", upstream = ""] = (values.only ?? "").split(",");
  if (listen !== "" && ends[0] !== listen) return false;
  if (upstream !== "" && ends[1] !== upstream) return false;
  return id.includes(values.part);
}

async function work(queue, first) {
  let current = first;
  for (let cell = queue.shift(); cell !== undefined && Date.now() < until; cell = queue.shift()) {
    current ??= await started();
    const { lost, ...result } = await runIn(current.child, cell.id);
    if (lost) current = undefined;
    keep(cell.id, { ok: result.wrong.length === 0, ...result });
    process.stdout.write(`${result.wrong.length === 0 ? "ok    " : "FAILED"} ${cell.id} (${(result.ms / 1000).toFixed(1)} s)\n`);
    for (const line of [...new Set(result.wrong)].slice(0, 4)) process.stdout.write(`         ${line.split("\n")[0]}\n`);
  }
  current?.child.disconnect();
}

const first = await started();
const wanted = first.cells.filter(isWanted);
const queue = wanted.filter(({ id }) => values.again || results[id]?.ok !== true);
await Promise.all(Array.from({ length: Number(values.workers) }, (_, at) => work(queue, at === 0 ? first : undefined)));
process.stdout.write(tables(wanted, results));
const passed = wanted.filter(({ id }) => results[id]?.ok === true).length;
const failed = wanted.filter(({ id }) => results[id]?.ok === false).length;
const left = wanted.length - passed - failed;
process.stdout.write(
  `${passed} of ${wanted.length} passed, ${failed} failed${left > 0 ? `, ${left} not run: run it again to go on` : ""}\n`,
);
process.exitCode = failed + left > 0 ? 1 : 0;
