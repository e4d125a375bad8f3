import { readFile, stat } from "node:fs/promises";
import type { Fault } from "../../core/index.js";
import { type MessageSet, readDescriptorSet } from "../descriptors.js";
import { schemaCacheLimits, schemaTimeouts } from "../limits.js";
import { type CanonicalSet, canonicalSet, checkSetBytes, parseSet } from "./canonical.js";
import type { Environment } from "./credentials.js";
import { type DiskCache, diskCache, type LabelRecord } from "./disk.js";
import { unresolved } from "./fault.js";
import { Flights } from "./flights.js";
import { type MessageNames, pickMessages, type StoredToolMessages } from "./messages.js";
import { isCommit, type ModuleName, moduleText, parseReference } from "./reference.js";
import type { RegistryClient } from "./registry.js";
import { type RegistryOptions, registryUrl } from "./registry-options.js";

export interface SchemaStoreOptions {
  /** The allowed registries, by the host in references; only buf.build unless given. No other is ever connected to. */
  readonly registries?: Readonly<Record<string, RegistryOptions>> | undefined;
  /** A folder in which to keep descriptors; only in memory unless given. `schemaCachePath()` is the usual one. */
  readonly cache?: string | undefined;
  /** Milliseconds that the commit of a label is remembered; an hour unless given. Commits are kept for ever. */
  readonly labelMs?: number | undefined;
  /** Milliseconds for each answer of a registry; 20,000 unless given. */
  readonly timeoutMs?: number | undefined;
  /** Never connects: uses what is in the cache, however old. */
  readonly offline?: boolean | undefined;
  /** Where `BUF_TOKEN`, `NETRC` and `HOME` are looked up; the process's environment unless given. */
  readonly env?: Environment | undefined;
  /** Called with problems of the cache: a damaged file that was fetched again, a folder that cannot be written. */
  readonly onWarning?: ((text: string) => void) | undefined;
  /** The time, in milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

export interface ResolveOptions extends MessageNames {
  /** The hash that the descriptors must have, in hexadecimal: an earlier `LoadedSchema.sha256`. */
  readonly sha256?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The schema of a tool. */
export interface LoadedSchema extends StoredToolMessages {
  readonly messages: MessageSet;
  /** The hash of the descriptors, with their comments. */
  readonly sha256: string;
}

export interface ResolvedSchema extends LoadedSchema {
  /** The commit that the version refers to. */
  readonly commit: string;
  /** The same reference with that commit. */
  readonly pinned: string;
  /** Where the descriptors were found. */
  readonly from: "memory" | "disk" | "registry";
}

/** Finds the messages of tools. Every failure is a Fault with the code -33000, and `data.reason` says why. */
export interface SchemaStore {
  /** By a reference to a registry. */
  resolve(reference: string, options?: ResolveOptions): Promise<ResolvedSchema>;
  /** From descriptors that came along. `tool` selects the tool, if the set has messages of several. */
  inline(descriptors: Uint8Array, options?: Omit<ResolveOptions, "signal"> & { readonly tool?: string | undefined }): LoadedSchema;
  /** From a file with descriptors, as `buf build -o` writes it. */
  file(path: string, options?: Omit<ResolveOptions, "signal"> & { readonly tool?: string | undefined }): Promise<LoadedSchema>;
  /** Closes connections. Nothing can be fetched afterwards. */
  close(): void;
}

/** Descriptors that are ready for use. */
interface StoredSet {
  readonly messages: MessageSet;
  readonly sha256: string;
  readonly bytes: number;
}

type Found = StoredSet & { readonly commit: string; readonly from: ResolvedSchema["from"] };

const { memorySets, memoryBytes, memoryLabels } = schemaCacheLimits;

export function schemaStore(options: SchemaStoreOptions = {}): SchemaStore {
  return new Store(options);
}

class Store implements SchemaStore {
  readonly #options: SchemaStoreOptions;
  readonly #disk: DiskCache | undefined;
  readonly #registries: ReadonlyMap<string, RegistryOptions>;
  readonly #clients = new Map<string, Promise<RegistryClient>>();
  readonly #flights = new Flights<Found>();
  readonly #sets = new Map<string, StoredSet>();
  readonly #labels = new Map<string, LabelRecord>();
  #bytes = 0;
  #closed = false;

  constructor(options: SchemaStoreOptions) {
    this.#options = options;
    this.#disk = options.cache === undefined ? undefined : diskCache(options.cache);
    this.#registries = new Map(Object.entries(options.registries ?? { "buf.build": {} }).map(([host, each]) => [host.toLowerCase(), each]));
    for (const [host, each] of this.#registries) registryUrl(host, each);
  }

  async resolve(reference: string, options: ResolveOptions = {}): Promise<ResolvedSchema> {
    const { symbol, version = "", ...module } = parseReference(reference);
    const name = moduleText(module);
    const ready = this.#ready(name, version);
    const found = ready ?? (await this.#flights.run(`${name}:${version}`, options.signal, (signal) => this.#find(module, version, signal)));
    const { messages, sha256, commit, from } = found;
    checkHash(sha256, options.sha256, `${name} at ${commit}`);
    return { ...pickMessages(messages, symbol, options), messages, sha256, commit, from, pinned: `${name}/${symbol}:${commit}` };
  }

  inline(descriptors: Uint8Array, { tool, sha256: wanted, ...names }: Parameters<SchemaStore["inline"]>[1] = {}): LoadedSchema {
    const set = canonicalSet(parseSet(descriptors));
    checkHash(set.sha256, wanted, "what came along");
    const { messages, sha256 } = this.#recall(`inline:${set.sha256}`) ?? this.#keep(`inline:${set.sha256}`, set);
    return { ...pickMessages(messages, tool, names), messages, sha256 };
  }

  async file(path: string, options?: Parameters<SchemaStore["file"]>[1]): Promise<LoadedSchema> {
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || !found.isFile()) throw unresolved("file", `there is no file ${path}`);
    checkSetBytes(found.size, `${path} has`);
    return this.inline(await readFile(path), options);
  }

  close(): void {
    this.#closed = true;
    for (const client of this.#clients.values()) void client.then((each) => each.close());
  }

  /** Returns what is in memory, without waiting. */
  #ready(name: string, version: string): Found | undefined {
    const commit = isCommit(version) ? version : this.#fresh(this.#labels.get(`${name}:${version}`));
    const held = commit === undefined ? undefined : this.#recall(`${name}:${commit}`);
    return commit === undefined || held === undefined ? undefined : { ...held, commit, from: "memory" };
  }

  async #find(module: ModuleName, version: string, signal: AbortSignal): Promise<Found> {
    const name = moduleText(module);
    const client = await this.#client(module.registry);
    if (isCommit(version)) return this.#commit(module, version, client, signal);
    const label = `${name}:${version}`;
    const known = this.#labels.get(label) ?? (await this.#disk?.label(name, version));
    const fresh = this.#fresh(known);
    if (fresh !== undefined) {
      if (known !== undefined) this.#keepLabel(label, known);
      return this.#commit(module, fresh, client, signal);
    }
    this.#online(`the label ${shownLabel(version)} of ${name}`);
    const at = this.#now();
    try {
      // If the last known commit of the label is here, only the current commit is asked for.
      const commit = known === undefined ? undefined : await client.commit(module, version, signal);
      const found =
        commit === undefined ? await this.#fetch(module, version, client, signal) : await this.#commit(module, commit, client, signal);
      await this.#write((disk) => disk.putLabel(name, version, { commit: found.commit, at }));
      this.#keepLabel(label, { commit: found.commit, at });
      return found;
    } catch (error) {
      throw known === undefined ? error : withStale(error, known);
    }
  }

  /** Loaded on first use: most users of a store never ask a registry. */
  #client(registry: string): Promise<RegistryClient> {
    const options = this.#registries.get(registry);
    if (options === undefined)
      throw unresolved(
        "registry-not-allowed",
        `${registry} is none of the registries that may be asked (${[...this.#registries.keys()].join(", ")})`,
      );
    let client = this.#clients.get(registry);
    if (client === undefined) {
      const { timeoutMs = schemaTimeouts.timeoutMs, env = process.env } = this.#options;
      client = import("./registry.js").then(({ registryClient }) => registryClient(registry, { ...options, timeoutMs, env }));
      this.#clients.set(registry, client);
    }
    return client;
  }

  /** The descriptors of a commit: from memory, the folder or the registry. */
  async #commit(module: ModuleName, commit: string, client: RegistryClient, signal: AbortSignal): Promise<Found> {
    const name = moduleText(module);
    const held = this.#recall(`${name}:${commit}`);
    if (held !== undefined) return { ...held, commit, from: "memory" };
    const kept = await this.#disk?.set(name, commit);
    if (kept === undefined) {
      this.#online(`the commit ${commit} of ${name}`);
      return this.#fetch(module, commit, client, signal);
    }
    if ("bytes" in kept) return { ...this.#keep(`${name}:${commit}`, kept), commit, from: "disk" };
    if (this.#options.offline === true)
      throw unresolved("cache", `${kept.damaged} is damaged, and nothing may be fetched. Delete it and resolve ${name} online`);
    this.#options.onWarning?.(`${kept.damaged} is damaged; ${name} at ${commit} is fetched again`);
    return this.#fetch(module, commit, client, signal, kept.sha256);
  }

  /** `sha256`: the earlier hash of the commit's descriptors. */
  async #fetch(module: ModuleName, version: string, client: RegistryClient, signal: AbortSignal, sha256?: string): Promise<Found> {
    const name = moduleText(module);
    const { commit, ...set } = await client.set(module, version, signal);
    const known = this.#recall(`${name}:${commit}`);
    const before = sha256 ?? known?.sha256 ?? (await this.#disk?.set(name, commit))?.sha256;
    checkHash(set.sha256, before, `${name} at ${commit}, which may never change,`);
    // Many labels may stand for one commit, which is read once.
    const held = known?.sha256 === set.sha256 ? known : this.#keep(`${name}:${commit}`, set);
    await this.#write((disk) => disk.putSet(name, commit, set));
    return { ...held, commit, from: "registry" };
  }

  /** If the folder cannot be written, the next run has to fetch again. Nothing else is affected. */
  async #write(work: (disk: DiskCache) => Promise<void>): Promise<void> {
    if (this.#disk !== undefined) await work(this.#disk).catch((error: Error) => this.#options.onWarning?.(error.message));
  }

  #fresh(record: LabelRecord | undefined): string | undefined {
    if (record === undefined) return undefined;
    if (this.#options.offline === true) return record.commit;
    const age = this.#now() - record.at;
    // A time in the future was written by another clock.
    return age >= 0 && age < (this.#options.labelMs ?? schemaTimeouts.labelMs) ? record.commit : undefined;
  }

  #online(what: string): void {
    if (this.#options.offline === true) throw unresolved("offline", `${what} is not in the cache, and nothing may be fetched`);
    if (this.#closed) throw unresolved("offline", `${what} is not in memory, and the store is closed`);
  }

  #keep(key: string, set: CanonicalSet): StoredSet {
    let messages: MessageSet;
    try {
      messages = readDescriptorSet(set.bytes);
    } catch (cause) {
      throw unresolved("descriptors", (cause as Error).message, { cause });
    }
    const held = { messages, sha256: set.sha256, bytes: set.bytes.byteLength };
    this.#forget(key);
    this.#sets.set(key, held);
    this.#bytes += held.bytes;
    for (const oldest of this.#sets.keys()) {
      if (oldest === key || (this.#sets.size <= memorySets && this.#bytes <= memoryBytes)) break;
      this.#forget(oldest);
    }
    return held;
  }

  #forget(key: string): void {
    this.#bytes -= this.#sets.get(key)?.bytes ?? 0;
    this.#sets.delete(key);
  }

  /** The last used is last in the map. */
  #recall(key: string): StoredSet | undefined {
    const held = this.#sets.get(key);
    if (held === undefined) return undefined;
    this.#sets.delete(key);
    this.#sets.set(key, held);
    return held;
  }

  #keepLabel(key: string, record: LabelRecord): void {
    this.#labels.delete(key);
    this.#labels.set(key, record);
    const [oldest] = this.#labels.keys();
    if (this.#labels.size > memoryLabels && oldest !== undefined) this.#labels.delete(oldest);
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }
}

function checkHash(sha256: string, wanted: string | undefined, what: string): void {
  if (wanted !== undefined && wanted.toLowerCase() !== sha256)
    throw unresolved("hash", `the descriptors of ${what} have the hash ${sha256}, and should have ${wanted.toLowerCase()}`);
}

/** The fault of a registry whose label is in the cache: it names the cached commit, which is only used if the caller asks for it. */
function withStale(error: unknown, { commit, at }: LabelRecord): unknown {
  const { data, message } = error as Fault;
  const reason = (data as { readonly reason?: unknown } | undefined)?.reason;
  if (reason !== "unreachable" && reason !== "timeout") return error;
  const said = message.replace(/^cannot resolve the schema: /, "");
  return unresolved(reason, `${said}. In the cache it is the commit ${commit}, as of ${new Date(at).toISOString()}; offline takes that`, {
    cause: error,
    data: { commit, at },
  });
}

function shownLabel(version: string): string {
  return version === "" ? "by default" : JSON.stringify(version);
}
