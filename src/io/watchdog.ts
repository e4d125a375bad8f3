import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";

/**
 * Holds process groups and ends them when its stdin ends: TERM, and a second later KILL. It outlives this process even after a SIGKILL,
 * because it has a session of its own, and its stdin ends with this process.
 */
const script = `
trap '' HUP INT TERM QUIT
held=
while read -r act group; do
  kept=
  for each in $held; do [ "$each" = "$group" ] || kept="$kept $each"; done
  held=$kept
  [ "$act" = hold ] && held="$held $group"
done
[ -z "$held" ] && exit
for each in $held; do kill -s TERM -- "-$each"; done
sleep 1
for each in $held; do kill -s KILL -- "-$each"; done
`;

let running: { readonly process: ChildProcess; readonly stdin: Socket } | undefined;

/** Where there is no `/bin/sh`, as on Windows, there is no watchdog. */
function start(): void {
  const child = spawn("/bin/sh", ["-c", script], {
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.on("error", () => {});
  child.once("exit", () => {
    if (running?.process === child) running = undefined;
  });
  const { stdin } = child;
  if (child.pid === undefined || !(stdin instanceof Socket)) return;
  stdin.on("error", () => {});
  // The watchdog lives as long as this process, but must not keep it running.
  child.unref();
  stdin.unref();
  running = { process: child, stdin };
}

/** Ends the group even if this process dies first. The first call starts the watchdog, while the child itself starts. */
export function watchGroup(pid: number): void {
  if (running === undefined && process.platform !== "win32") start();
  running?.stdin.write(`hold ${pid}\n`);
}

/** Forgets the group. */
export function unwatchGroup(pid: number): void {
  running?.stdin.write(`drop ${pid}\n`);
}

/** Ends the watchdog when it holds no groups. */
export function stopWatchdog(): void {
  running?.stdin.end();
  running = undefined;
}
