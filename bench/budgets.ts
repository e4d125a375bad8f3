import { fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { connect } from "anywire";
import { atMost, type Bench, type Figure, format, type Outcome } from "./figure.js";
import { same } from "./pairs.js";
import { type Contender, median, type Rated, ratio, takeTurns } from "./rounds.js";
import { WORKERS } from "./sizes.js";

/**
 * What it costs to count what callers hold: processor time of the server for an echo call, counted over not counted. Half of the
 * servers run a copy of the same build in which nothing is counted. WIRES=http,ws measures some wires.
 */
export const budgets: Bench = { name: "budgets", run };

/** A part of an echo call, in per cent. */
const MOST = 3;
/** Servers of each kind. */
const PAIRS = 3;
/** Calls of each before any count. */
const WARM_UP = 6000;

const wires: Readonly<Record<string, (address: string) => string>> = {
  http: (at) => `http://${at}/mcp`,
  sse: (at) => `sse+http://${at}/sse`,
  ws: (at) => `ws://${at}/mcp`,
  grpc: (at) => `grpc://${at}`,
  tunnel: (at) => `tunnel+grpc://${at}`,
  lines: (at) => `tcp://${at}`,
};

const root = fileURLToPath(new URL("..", import.meta.url));
const entryOf = (dist: string): string => pathToFileURL(join(dist, "api/index.js")).href;

async function run(): Promise<Outcome> {
  const chosen = process.env["WIRES"]?.split(",") ?? Object.keys(wires);
  // Inside the package, so that its dependencies are found from there.
  await mkdir(join(root, "node_modules/.cache"), { recursive: true });
  const folder = await mkdtemp(join(root, "node_modules/.cache/anywire-uncounted-"));
  const figures: Figure[] = [];
  const notes: string[] = [];
  try {
    await uncounted(folder);
    for (const name of chosen) {
      const address = wires[name];
      if (address === undefined) throw new Error(`no wire ${name}; there are ${Object.keys(wires).join(", ")}`);
      const [figure, note] = await compare(name, address("127.0.0.1:0"), folder);
      figures.push(figure);
      notes.push(note);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { figures, notes };
}

async function compare(wire: string, address: string, folder: string): Promise<[Figure, string]> {
  const running: Server[] = [];
  try {
    for (let pair = 0; pair < PAIRS; pair++)
      for (const [name, dist] of [["counted", join(root, "dist")] as const, ["not counted", folder] as const])
        running.push(await start(name, address, dist));
    // By number: a busy machine makes little of a second.
    for (const each of running) await each.run(WARM_UP);
    const rated = await takeTurns(running, { rounds: 24, ms: 60, warmUpMs: 300 });
    const [counted, bare] = ["counted", "not counted"].map((name) => rated.filter((each) => each.name === name)) as [Rated[], Rated[]];
    const cost = (ratio(middle(bare), middle(counted)) - 1) * 100;
    const us = (of: readonly Rated[]): string => of.map(({ rates }) => format(1e6 / median(rates), 2)).join(", ");
    return [
      atMost(`budgets, of the processor time of an echo call, ${wire}`, cost, MOST, "%", 1),
      `${wire}: us a call counted ${us(counted)}; not counted ${us(bare)}`,
    ];
  } finally {
    await Promise.all(running.map((each) => each.close()));
  }
}

/** In each round the one in the middle: processes of one program differ, since each is optimised in its own way. */
function middle(rated: readonly Rated[]): Rated {
  const rates = rated[0]?.rates.map((_, round) => median(rated.map((each) => each.rates[round] ?? Number.NaN))) ?? [];
  return { name: rated[0]?.name ?? "", rates };
}

interface Server extends Contender {
  close(): Promise<void>;
}

async function start(name: string, address: string, dist: string): Promise<Server> {
  const child = fork(fileURLToPath(new URL("./budgets-server.js", import.meta.url)), [entryOf(dist), address]);
  const exited = once(child, "exit").then(() => {
    throw new Error(`${name}: its process ended`);
  });
  exited.catch(() => {});
  const answer = async (): Promise<unknown> => (await Promise.race([once(child, "message"), exited]))[0];
  const client = await connect((await answer()) as string);
  const used = async (): Promise<number> => {
    child.send("used");
    return (await answer()) as number;
  };
  return {
    name,
    async run(times) {
      const before = await used();
      let left = times;
      const worker = async (): Promise<void> => {
        while (left-- > 0) same((await client.callTool("echo", { text: "hello" })).content[0], "hello");
      };
      await Promise.all(Array.from({ length: WORKERS }, worker));
      return (await used()) - before;
    },
    async close() {
      await client.close();
      child.disconnect();
      await exited.catch(() => {});
    },
  };
}

/** Copies the build, and leaves the counting out of it. */
async function uncounted(folder: string): Promise<void> {
  await cp(join(root, "dist"), folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await change(join(folder, "core/budget.js"), (text) => {
    const methods = ["set", "grow", "count", "begin", "free", "claim"];
    for (const method of methods) if (!text.includes(`\n    ${method}(`)) throw new Error(`core/budget.js has no ${method}`);
    return `${text}
for (const name of ${JSON.stringify(methods)}) Held.prototype[name] = () => undefined;
Held.prototype.handOver = function () { return this; };
const nothing = new Account().hold();
Account.prototype.hold = Account.prototype.outgoing = () => nothing;
`;
  });
  await change(join(folder, "core/json.js"), (text) => {
    const opening = /export function memoryOf\(([^)]*)\) \{/;
    if (!opening.test(text)) throw new Error("core/json.js has no memoryOf");
    return text.replace(opening, (found) => `${found}\n    return 0;`);
  });
}

async function change(file: string, how: (text: string) => string): Promise<void> {
  await writeFile(file, how(await readFile(file, "utf8")));
}
