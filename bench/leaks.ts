import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Bench, type Figure, format, type Outcome } from "./figure.js";
import type { Held } from "./leaks-client.js";

/** Calls on one connection; fewer while one looks for a leak. */
const CALLS = Number(process.env["LEAK_CALLS"] ?? 1_000_000);
const MOST = 1.05;
/** Milliseconds that the calls of one wire may take. */
const LIMIT_MS = 180_000;

const wires: readonly (readonly [string, string])[] = [
  ["the tunnel", "tunnel+grpc://127.0.0.1:0"],
  ["Session", "grpc://127.0.0.1:0"],
  ["WebSocket", "ws://127.0.0.1:0/"],
  ["stdio", "stdio:"],
];

/** What a connection holds after many calls over what it held after a tenth of them: nothing of a call may stay. */
export const leaks: Bench = { name: "leaks", run };

async function run(): Promise<Outcome> {
  const figures: Figure[] = [];
  const notes: string[] = [];
  for (const [wire, address] of wires) {
    const held = await measured(address);
    for (const end of ["client", "server"] as const) {
      const [first, last] = held[end];
      notes.push(`${wire}, ${end}: ${mib(first)} MiB after ${format(CALLS / 10)} calls, ${mib(last)} after ${format(CALLS)}`);
      const name = `heap of the ${end} after ${format(CALLS)} calls over after ${format(CALLS / 10)}, ${wire}`;
      figures.push({ name, value: `${format(last / first, 2)}x`, target: `<= ${MOST}x`, pass: last / first <= MOST });
    }
  }
  return { figures, notes };
}

function mib(bytes: number): string {
  return format(bytes / 2 ** 20, 2);
}

async function measured(address: string): Promise<Held> {
  const file = fileURLToPath(new URL("./leaks-client.js", import.meta.url));
  const running = spawn(process.execPath, ["--expose-gc", file, address, String(CALLS)], { stdio: ["ignore", "pipe", "inherit"] });
  const timer = setTimeout(() => running.kill(), LIMIT_MS);
  let said = "";
  running.stdout.on("data", (text: Buffer) => {
    said += text.toString();
  });
  await once(running, "close");
  clearTimeout(timer);
  if (said === "") throw new Error(`${format(CALLS)} calls over ${address} did not end within ${LIMIT_MS / 1000} s`);
  return JSON.parse(said) as Held;
}
