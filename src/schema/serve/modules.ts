import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { FileDescriptorProto, FileDescriptorSet } from "@bufbuild/protobuf/wkt";
import { Fault, schemaLimits, toFault } from "../../core/index.js";
import { fileRegistry } from "../descriptors.js";
import { printFile } from "../print/print.js";
import { canonicalSet, hashOf, parseSet } from "../store/canonical.js";

/** A text file in a module. */
export interface SourceFile {
  readonly path: string;
  readonly content: Uint8Array;
}

/** Descriptors under a label. */
export interface ServedCommit {
  readonly owner: string;
  readonly repository: string;
  readonly label: string;
  /** A UUID without dashes, derived from the content. */
  readonly id: string;
  readonly at: Date;
  readonly set: FileDescriptorSet;
  /** The files as .proto text. Throws a Fault if they cannot be printed. */
  sources(): readonly SourceFile[];
  /** The B5 digest of the sources. */
  digest(): Uint8Array;
}

/** The current content of a folder `owner/repository/label.binpb`. */
export interface ServedModules {
  all(): Promise<readonly ServedCommit[]>;
}

const file = /^([a-z0-9_][a-z0-9_.-]*)\.binpb$/i;
const folderName = /^[a-z0-9][a-z0-9_.-]*$/i;

/**
 * Reads changed files at each request, so that a label moves when its file is replaced. `onFault` is called for files that are not
 * descriptors.
 */
export function servedModules(folder: string, onFault: (fault: Fault) => void): ServedModules {
  let known = new Map<string, ServedCommit | undefined>();
  return {
    async all() {
      const fresh: typeof known = new Map();
      for await (const { path, owner, repository, label } of files(folder)) {
        const facts = await stat(path).catch(() => undefined);
        if (facts === undefined || !facts.isFile()) continue;
        const key = `${path}:${facts.mtimeMs}:${facts.size}`;
        if (known.has(key)) fresh.set(key, known.get(key));
        else
          fresh.set(
            key,
            (await commitOf(path, facts.size, { owner, repository, label, at: facts.mtime }).catch((error: unknown) => {
              const { message, data } = toFault(error);
              onFault(new Fault("parse", `${path}: ${message}`, { cause: error, data }));
            })) as ServedCommit | undefined,
          );
      }
      known = fresh;
      return [...fresh.values()].filter((commit) => commit !== undefined);
    },
  };
}

interface ModuleFile {
  readonly owner: string;
  readonly repository: string;
  readonly label: string;
}

async function* files(folder: string): AsyncGenerator<ModuleFile & { readonly path: string }> {
  const max = schemaLimits.descriptorSets;
  let count = 0;
  for (const owner of await names(folder))
    for (const repository of await names(join(folder, owner)))
      for (const name of await readdir(join(folder, owner, repository)).catch(() => [])) {
        const label = file.exec(name)?.[1];
        if (label === undefined) continue;
        if (++count > max) {
          throw new Fault("overload", `${folder} has more than ${max} descriptor sets`, { data: { limit: "descriptorSets", max } });
        }
        yield { path: join(folder, owner, repository, name), owner, repository, label };
      }
}

async function names(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory() && folderName.test(entry.name)).map(({ name }) => name);
}

async function commitOf(path: string, size: number, { at, ...place }: ModuleFile & { readonly at: Date }): Promise<ServedCommit> {
  const max = schemaLimits.descriptorBytes;
  if (size > max) throw new Fault("parse", `it has more than ${max} bytes`, { data: { limit: "descriptorBytes", max } });
  const set = parseSet(await readFile(path));
  const registry = fileRegistry(set.file);
  let printed: readonly SourceFile[] | undefined;
  let digest: Uint8Array | undefined;
  const sources = (): readonly SourceFile[] => {
    const own = [...registry.files].map(({ proto }) => proto).filter(({ name }) => !name.startsWith("google/protobuf/"));
    return (printed ??= own.map((each) => ({ path: each.name, content: Buffer.from(textOf(each, registry)) })));
  };
  return {
    ...place,
    at,
    set,
    id: uuidOf(`${place.owner}/${place.repository}:${canonicalSet(set).sha256}`),
    sources,
    digest: () => (digest ??= b5(sources())),
  };
}

function textOf(proto: FileDescriptorProto, registry: ReturnType<typeof fileRegistry>): string {
  if (proto.syntax === "editions")
    throw new Fault("unknown-method", `${proto.name} is of an edition, which is served as descriptors alone`);
  return printFile(proto, registry);
}

/** A UUID without dashes, derived from a text. */
export function uuidOf(text: string): string {
  const hex = hashOf(text).slice(0, 32);
  return `${hex.slice(0, 12)}8${hex.slice(13, 16)}a${hex.slice(17)}`;
}

/** The digest that buf calls B5, of a module without dependencies: a digest of its file list, which has the digest of each file. */
function b5(sources: readonly SourceFile[]): Uint8Array {
  const lines = sources.map(({ path, content }) => ({ path, line: `shake256:${shake256(content).toString("hex")}  ${path}\n` }));
  lines.sort((one, other) => (one.path < other.path ? -1 : 1));
  const manifest = shake256(Buffer.from(lines.map(({ line }) => line).join("")));
  return shake256(Buffer.from(`shake256:${manifest.toString("hex")}`));
}

function shake256(content: Uint8Array): Buffer {
  return createHash("shake256", { outputLength: 64 }).update(content).digest();
}
