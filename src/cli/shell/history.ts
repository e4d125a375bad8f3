import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/** Lines that are offered again, and how many the file may have before it is cut to that number. */
const OFFERED = 500;
const KEPT = 2 * OFFERED;

/** The lines of earlier sessions, in a file that only its owner can read. */
export interface History {
  /** The newest first. */
  readonly lines: string[];
  /** Adds a line, unless it begins with a space. */
  add(line: string): void;
}

/** `$XDG_STATE_HOME/anywire/history`, or the same under `~/.local/state`. */
export function historyPath(env: NodeJS.ProcessEnv = process.env): string {
  const home = env["XDG_STATE_HOME"];
  const base = home !== undefined && isAbsolute(home) ? home : join(homedir(), ".local", "state");
  return join(base, "anywire", "history");
}

/** Opens the history. If it cannot be read or written, the shell works without it. */
export function openHistory(path: string): History {
  const lines = (attempt(() => readFileSync(path, "utf8")) ?? "").split("\n").filter((line) => line !== "");
  const newest = lines.slice(-OFFERED);
  if (lines.length > KEPT) attempt(() => writeFileSync(path, `${newest.join("\n")}\n`, { mode: 0o600 }));
  attempt(() => mkdirSync(dirname(path), { recursive: true, mode: 0o700 }));
  return {
    lines: newest.reverse(),
    add(line) {
      if (/^\S/.test(line)) attempt(() => appendFileSync(path, `${line}\n`, { mode: 0o600 }));
    },
  };
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
