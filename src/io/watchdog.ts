import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";

/**
 * Holds the process groups that it is told of and ends them when its stdin does: TERM, and a second later KILL. It outlives whatever ends
 * this process, a SIGKILL too, since it has a session of its own and its stdin ends with this process.
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
  // It is there for as long as this process is, and does not keep it.
  child.unref();
  stdin.unref();
  running = { process: child, stdin };
}

/** Has the group ended if this process does not live to do it. The first one starts the watchdog, while the child itself starts. */
export function watchGroup(pid: number): void {
  if (running === undefined && process.platform !== "win32") start();
  running?.stdin.write(`hold ${pid}\n`);
}

/** Forgets the group. */
export function unwatchGroup(pid: number): void {
  running?.stdin.write(`drop ${pid}\n`);
}

/** Ends the watchdog, which holds nothing any more. */
export function stopWatchdog(): void {
  running?.stdin.end();
  running = undefined;
}
