import { randomUUID } from "node:crypto";
import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { isObject, schemaLimits } from "../../core/index.js";
import { makeFolder } from "../../io/index.js";
import { schemaCacheLimits } from "../limits.js";
import { type CanonicalSet, hashOf } from "./canonical.js";
import type { Environment } from "./credentials.js";
import { unresolved } from "./fault.js";
import { isCommit } from "./reference.js";

/** The commit that a label referred to when the registry was last asked. */
export interface LabelRecord {
  readonly commit: string;
  /** When that was, in milliseconds since 1970. */
  readonly at: number;
}

/** A cache file that is not what was written. `sha256`: the hash in its head, if that can be read. */
export interface Damaged {
  readonly damaged: string;
  readonly sha256?: string | undefined;
}

/**
 * Descriptors and labels in a folder. Each file is written atomically and describes itself. Nothing is used that does not match its hash.
 */
export interface DiskCache {
  set(module: string, commit: string): Promise<CanonicalSet | Damaged | undefined>;
  putSet(module: string, commit: string, set: CanonicalSet): Promise<void>;
  label(module: string, label: string): Promise<LabelRecord | undefined>;
  putLabel(module: string, label: string, record: LabelRecord): Promise<void>;
}

const HEAD_BYTES = 4_096;
const FORMAT = 1;

/** `$XDG_CACHE_HOME/anywire/schemas`, or the same under `~/.cache`. */
export function schemaCachePath(env: Environment = process.env): string {
  const home = env["XDG_CACHE_HOME"];
  return join(home === undefined || home === "" ? join(env["HOME"] ?? homedir(), ".cache") : home, "anywire", "schemas");
}

export function diskCache(folder: string): DiskCache {
  const pathOf = (module: string, version: string, kind: "set" | "label"): string =>
    join(folder, `${hashOf(`${module}:${version}`)}.${kind}`);
  return {
    async set(module, commit) {
      const path = pathOf(module, commit, "set");
      const content = await read(path);
      if (content === undefined) return undefined;
      const end = content.indexOf(10);
      const head = end < 0 || end > HEAD_BYTES ? undefined : object(content.subarray(0, end).toString("utf8"));
      const bytes = content.subarray(end + 1);
      const said = head?.["sha256"];
      const sha256 = typeof said === "string" && /^[0-9a-f]{64}$/.test(said) ? said : undefined;
      if (head?.["format"] !== FORMAT || head["module"] !== module || head["commit"] !== commit || sha256 === undefined)
        return { damaged: path, sha256: undefined };
      return hashOf(bytes) === sha256 ? { bytes, sha256 } : { damaged: path, sha256 };
    },
    async putSet(module, commit, { bytes, sha256 }) {
      const head = `${JSON.stringify({ format: FORMAT, module, commit, sha256 })}\n`;
      await write(folder, pathOf(module, commit, "set"), Buffer.concat([Buffer.from(head), bytes]));
      await prune(folder);
    },
    async label(module, label) {
      const record = object((await read(pathOf(module, label, "label")))?.toString("utf8") ?? "");
      const { commit, at } = record ?? {};
      // A record that cannot be read counts as missing, so the registry is asked.
      if (record?.["module"] !== module || record["label"] !== label) return undefined;
      return typeof commit === "string" && isCommit(commit) && Number.isSafeInteger(at) ? { commit, at: at as number } : undefined;
    },
    putLabel: (module, label, record) =>
      write(folder, pathOf(module, label, "label"), Buffer.from(`${JSON.stringify({ format: FORMAT, module, label, ...record })}\n`)),
  };
}

function object(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function read(path: string): Promise<Buffer | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > schemaLimits.descriptorBytes + HEAD_BYTES) return Buffer.alloc(0);
  return readFile(path).catch((cause: Error) => {
    throw unresolved("cache", `${path} cannot be read: ${cause.message}`, { cause });
  });
}

async function write(folder: string, path: string, content: Uint8Array): Promise<void> {
  const fresh = `${path}.${randomUUID()}`;
  try {
    await makeFolder(folder, { mode: 0o700 });
    await writeFile(fresh, content, { mode: 0o600, flag: "wx" });
    await rename(fresh, path);
  } catch (cause) {
    await rm(fresh, { force: true }).catch(() => {});
    throw unresolved("cache", `${path} cannot be written: ${(cause as Error).message}`, { cause });
  }
}

/** Removes the oldest descriptors if there are too many bytes. */
async function prune(folder: string): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".set"));
  const files = await Promise.all(
    names.map(async (name) => ({ path: join(folder, name), facts: await stat(join(folder, name)).catch(() => undefined) })),
  );
  const there = files.flatMap(({ path, facts }) => (facts === undefined ? [] : [{ path, size: facts.size, at: facts.mtimeMs }]));
  let total = there.reduce((sum, { size }) => sum + size, 0);
  for (const { path, size } of there.sort((one, other) => one.at - other.at)) {
    if (total <= schemaCacheLimits.diskBytes) return;
    await rm(path, { force: true });
    total -= size;
  }
}
