import { spawn } from "node:child_process";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { atMost, type Bench, type Outcome } from "./figure.js";
import { median } from "./rounds.js";

/** What the command adds to the start of a server, from its own start to the first line of the result. */
export const start: Bench = { name: "start", run };

const ROUNDS = 7;
const root = join(import.meta.dirname, "..");
const anywire = join(root, "bin/anywire.js");
const servers = {
  demo: [anywire, "demo"],
  "server-everything": [join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")],
} as const;

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } },
};

async function run(): Promise<Outcome> {
  const figures = [];
  const notes = [];
  for (const [name, args] of Object.entries(servers)) {
    const alone: number[] = [];
    const through: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await firstOutput(args, `${JSON.stringify(initialize)}\n`));
      through.push(await firstOutput([anywire, "tools", "--", process.execPath, ...args]));
    }
    const [own, all] = [median(alone), median(through)];
    figures.push(atMost(`first result of anywire tools beyond the start of ${name}`, all - own, 2000, " ms"));
    notes.push(`${name}: ${Math.round(own)} ms to its answer to initialize, ${Math.round(all)} ms to the first tool that is printed`);
  }
  return { figures, notes };
}

/** Milliseconds from the start of a process to its first output. */
function firstOutput(args: readonly string[], input?: string): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
  if (input !== undefined) child.stdin.write(input);
  return new Promise((resolve, reject) => {
    let took: number | undefined;
    child.stdout.on("data", () => {
      took ??= performance.now() - began;
      child.stdin.end();
    });
    child.once("close", () => (took === undefined ? reject(new Error(`${args.join(" ")} printed nothing`)) : resolve(took)));
  });
}
