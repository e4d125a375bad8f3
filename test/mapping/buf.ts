import { execFileSync, spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

export const root: string = resolve(import.meta.dirname, "../..");
const binary = join(root, "node_modules/.bin/buf");

/** What buf prints, as bytes. */
export function buf(...args: readonly string[]): Buffer {
  return execFileSync(binary, args, { cwd: root });
}

/** What buf finds fault with; nothing if it is content. */
export function complaints(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(binary, args, { cwd: root, encoding: "utf8" });
  return status === 0 ? "" : `${stdout}${stderr}`;
}
