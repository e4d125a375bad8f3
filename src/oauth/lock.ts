import { randomUUID } from "node:crypto";
import { readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault, toFault } from "../core/index.js";
import { makeFolder } from "../io/index.js";
import { codeOf } from "../stream/index.js";

/** A holder that has not touched its lock for this many milliseconds has died. */
const STALE_MS = 10_000;
const TOUCH_MS = 2_000;
const WAIT_MS = 30_000;
const RETRY_MS = 20;

/** Runs `work` while no other process runs it for the same file. */
export async function locked<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  const name = randomUUID();
  await makeFolder(dirname(path), { mode: 0o700 });
  const until = Date.now() + WAIT_MS;
  while (!(await taken(lock, name))) {
    if (Date.now() > until)
      throw new Fault("unavailable", `another process holds ${lock}; delete it if there is none`, { data: { reason: "locked" } });
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS * (1 + Math.random())));
  }
  const touch = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => {}), TOUCH_MS);
  try {
    return await work();
  } finally {
    clearInterval(touch);
    // A holder that was taken for dead must not remove the lock of its successor.
    if ((await readFile(lock, "utf8").catch(() => "")) === name) await rm(lock, { force: true });
  }
}

async function taken(lock: string, name: string): Promise<boolean> {
  try {
    await writeFile(lock, name, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw new Fault("internal", `cannot write ${lock}: ${toFault(error).message}`, { cause: error });
    const found = await stat(lock).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > STALE_MS) await rm(lock, { force: true });
    return false;
  }
}
