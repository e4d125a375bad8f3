import { stopWatchdog, unwatchGroup, watchGroup } from "./watchdog.js";

/** The process groups that this process must not leave behind, by the pid of their leader. */
const live = new Set<number>();

const windows = process.platform === "win32";

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    // Windows has no process groups, so only the leader gets the signal.
    process.kill(windows ? pid : -pid, signal);
  } catch {
    // No process is left to signal.
  }
}

function killAll(): void {
  for (const pid of live) kill(pid, "SIGKILL");
}

/** From now on the group is killed when this process ends, however it ends, unless it was released before. */
export function holdGroup(pid: number): void {
  if (live.size === 0) process.on("exit", killAll);
  live.add(pid);
  watchGroup(pid);
}

/** Signals every process of a held group. A released group is not signalled: its number may belong to another by now. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (live.has(pid)) kill(pid, signal);
}

/** Kills what the leader left behind. Call it only in the tick that reaped the leader: later its number may be reused. */
export function releaseGroup(pid: number): void {
  if (!live.delete(pid)) return;
  if (!windows) kill(pid, "SIGKILL");
  unwatchGroup(pid);
  if (live.size > 0) return;
  process.off("exit", killAll);
  stopWatchdog();
}
