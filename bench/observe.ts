import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath, pathToFileURL } from "node:url";
import { atLeast, type Bench, format, type Outcome } from "./figure.js";
import type { Counts } from "./observe-one.js";
import { type Contender, median, type Rated, ratio, takeTurns } from "./rounds.js";

/**
 * What watching costs: echo calls on the memory wire without an observer, with one that counts calls, and with one that counts frames
 * too. ANYWIRE_BASE may name another checkout that is built: its calls without an observer are measured beside them.
 */
export const observe: Bench = { name: "observe", run };

async function run(): Promise<Outcome> {
  const base = process.env["ANYWIRE_BASE"];
  const running = [
    await start("no observer", "nothing"),
    await start("an observer that counts calls", "calls"),
    await start("an observer that counts calls and frames", "frames"),
    ...(base === undefined ? [] : [await start(`no observer, ${base}`, "nothing", pathToFileURL(`${base}/dist/api/index.js`).href)]),
  ];
  try {
    const rated = await takeTurns(running, { rounds: 60, ms: 80, warmUpMs: 1000 });
    const [none, counting, , before] = rated as [Rated, Rated, Rated, Rated?];
    return {
      figures: [
        atLeast("echo calls with an observer that counts calls, over none", ratio(counting, none), 0.5, "x"),
        ...(before === undefined ? [] : [atLeast(`echo calls without an observer, over ${base}`, ratio(none, before), 0.9, "x")]),
      ],
      notes: rated.map(
        (each) =>
          `${each.name}: ${format(1e6 / median(each.rates), 2)} us of CPU a call; over no observer ${format(ratio(each, none), 3)}x`,
      ),
    };
  } finally {
    await Promise.all(running.map((each) => each.close()));
  }
}

async function start(name: string, counts: Counts, entry = "anywire"): Promise<Contender & { close(): Promise<void> }> {
  const child = fork(fileURLToPath(new URL("./observe-one.js", import.meta.url)), [entry, counts]);
  const exited = once(child, "exit").then(() => {
    throw new Error(`${name}: its process ended`);
  });
  exited.catch(() => {});
  const answer = async (): Promise<unknown> => (await Promise.race([once(child, "message"), exited]))[0];
  await answer();
  return {
    name,
    async run(times) {
      child.send(times);
      return (await answer()) as number;
    },
    async close() {
      child.disconnect();
      await exited.catch(() => {});
    },
  };
}
