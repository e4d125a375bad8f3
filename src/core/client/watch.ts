import { Fault, toFault } from "../fault.js";
import type { JsonObject } from "../json.js";
import type { Engine } from "./engine.js";
import type { CallExchange } from "./exchange.js";
import { type Glob, glob } from "./glob.js";
import { openListen } from "./listen.js";
import { listItems } from "./lists.js";
import { requireCapability, type ServerView } from "./server-view.js";
import { leavable, type Stream } from "./stream.js";

export interface ResourceChange {
  readonly uri: string;
  readonly change: "created" | "modified" | "deleted" | "initial";
}

export interface WatchOptions {
  /** Begin with an `initial` change for each watched resource. */
  readonly includeInitial?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Changes of the resources that match; see McpClient.watch. */
export function watch(
  engine: Engine,
  server: ServerView,
  patterns: string | readonly string[],
  options: WatchOptions,
): Stream<ResourceChange> {
  const watcher = new Watcher(engine, server, typeof patterns === "string" ? [patterns] : patterns, options);
  return leavable(watcher.changes(), () => watcher.stop());
}

/** Limit on the waiting changes of URIs that nobody subscribed to by name: a server may report parts of a resource. */
const strangers = 1024;

class Watcher {
  readonly #engine: Engine;
  readonly #server: ServerView;
  readonly #patterns: readonly string[];
  readonly #options: WatchOptions;
  #globs: readonly Glob[] = [];
  #plain: ReadonlySet<string> = new Set();
  /** The matching URIs when the list was last read; undefined before the first listing. */
  #listed: ReadonlySet<string> | undefined;
  #subscribed: ReadonlySet<string> = new Set();
  /** Changes that wait for the reader, at most one for each URI. */
  readonly #pending = new Map<string, ResourceChange["change"]>();
  /** The current subscription, and the one that is about to replace it. */
  readonly #listens = new Set<CallExchange>();
  #listing: Stream<JsonObject> | undefined;
  /**
   * Whether changes are held back. While two subscriptions are open both report changes, and the first change of a URI must be reported
   * first.
   */
  #held: boolean;
  #refreshing = false;
  #stale = false;
  #end: { readonly fault?: Fault } | undefined;
  #wake: (() => void) | undefined;
  /** Subscriptions that are not read until the reader has taken more. */
  readonly #paused = new Set<() => void>();

  constructor(engine: Engine, server: ServerView, patterns: readonly string[], options: WatchOptions) {
    this.#engine = engine;
    this.#server = server;
    this.#patterns = patterns;
    this.#options = options;
    this.#held = options.includeInitial === true;
  }

  async *changes(): AsyncGenerator<ResourceChange, undefined, undefined> {
    const { signal } = this.#options;
    const abort = (): void => {
      const reason: unknown = signal?.reason;
      this.#pending.clear();
      this.#finish(reason instanceof Fault ? reason : new Fault("cancelled", "the watch was cancelled", { cause: reason }));
    };
    try {
      requireCapability(this.#server, "be watched", ["resources.subscribe"]);
      this.#globs = this.#patterns.map(glob);
      this.#plain = new Set(this.#globs.flatMap((pattern) => pattern.plain ?? []));
      if (signal?.aborted === true) abort();
      else signal?.addEventListener("abort", abort, { once: true });
      if (this.#end === undefined) void this.#refresh();
      for (;;) {
        for (let next = this.#take(); next !== undefined; next = this.#take()) yield next;
        if (this.#end?.fault !== undefined) throw this.#end.fault;
        if (this.#end !== undefined) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      signal?.removeEventListener("abort", abort);
      this.stop();
    }
  }

  stop(): void {
    this.#pending.clear();
    this.#finish();
  }

  #finish(fault?: Fault): void {
    if (this.#end !== undefined) return;
    this.#end = fault === undefined ? {} : { fault };
    for (const exchange of this.#listens) void exchange.return();
    void this.#listing?.return();
    this.#readOn();
    this.#wakeUp();
  }

  #full(): boolean {
    return this.#end === undefined && this.#pending.size >= this.#subscribed.size + strangers;
  }

  #readOn(): void {
    for (const go of this.#paused) go();
    this.#paused.clear();
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #take(): ResourceChange | undefined {
    if (this.#held && this.#end === undefined) return undefined;
    for (const [uri, change] of this.#pending) {
      this.#pending.delete(uri);
      if (!this.#full()) this.#readOn();
      return { uri, change };
    }
    return undefined;
  }

  /** Lists and subscribes again, as often as the list has changed meanwhile. */
  async #refresh(): Promise<void> {
    this.#stale = true;
    if (this.#refreshing) return;
    this.#refreshing = true;
    try {
      // The first subscription only makes sure that no change is missed while the list is read.
      if (this.#listed === undefined) await this.#subscribe(this.#plain);
      while (this.#stale && this.#end === undefined) {
        this.#stale = false;
        const listed = await this.#list();
        const wanted = new Set([...this.#plain, ...listed]);
        if (this.#end === undefined && !same(wanted, this.#subscribed)) await this.#subscribe(wanted);
        if (this.#end !== undefined) return;
        this.#compare(listed, wanted);
        this.#held = false;
        this.#wakeUp();
      }
    } catch (error) {
      this.#finish(toFault(error));
    } finally {
      this.#refreshing = false;
    }
  }

  async #list(): Promise<Set<string>> {
    const found = new Set<string>();
    this.#listing = listItems(this.#engine, "resources/list", {});
    try {
      let bytes = 0;
      for await (const { uri } of this.#listing) {
        if (typeof uri !== "string" || !this.#globs.some((pattern) => pattern.matches(uri))) continue;
        found.add(uri);
        if ((bytes += uri.length) > this.#engine.collectBytes)
          throw new Fault("overload", "too many resources match to be watched", { data: { limit: "collectBytes" } });
      }
    } catch (error) {
      // A server without a list may still report changes of URIs that the caller names.
      if (toFault(error).code !== "unknown-method" || this.#globs.some(({ plain }) => plain === undefined)) throw error;
    } finally {
      this.#listing = undefined;
    }
    return found;
  }

  /** Opens the new subscription before it closes the old one, so that nothing falls between them. */
  async #subscribe(wanted: ReadonlySet<string>): Promise<void> {
    const old = [...this.#listens];
    const exchange = openListen(this.#engine, { resourcesListChanged: true, resourceSubscriptions: [...wanted] }, {});
    this.#listens.add(exchange);
    if (old.length > 0) this.#held = true;
    await new Promise<void>((acknowledged) => void this.#read(exchange, acknowledged));
    for (const other of old) {
      this.#listens.delete(other);
      void other.return();
    }
    this.#subscribed = wanted;
  }

  async #read(exchange: CallExchange, acknowledged: () => void): Promise<void> {
    try {
      for (;;) {
        if (this.#full()) await new Promise<void>((go) => this.#paused.add(go));
        const step = await exchange.next();
        if (step.done === true || step.value.kind === "result") break;
        const reply = step.value;
        if (reply.kind !== "note") this.#engine.hear(reply, "subscriptions/listen", {});
        else if (reply.method === "notifications/subscriptions/acknowledged") acknowledged();
        else if (reply.method === "notifications/resources/list_changed") void this.#refresh();
        else if (reply.method === "notifications/resources/updated") this.#note(reply.params["uri"], "modified");
      }
      // A replaced subscription was removed before it ended.
      if (this.#listens.has(exchange)) this.#finish();
    } catch (error) {
      if (this.#listens.has(exchange)) this.#finish(toFault(error));
    } finally {
      acknowledged();
    }
  }

  #compare(listed: ReadonlySet<string>, wanted: ReadonlySet<string>): void {
    const before = this.#listed;
    this.#listed = listed;
    if (before === undefined) {
      if (this.#options.includeInitial === true) for (const uri of wanted) this.#note(uri, "initial");
      return;
    }
    for (const uri of before) if (!listed.has(uri)) this.#note(uri, "deleted");
    for (const uri of listed) if (!before.has(uri)) this.#note(uri, "created");
  }

  #note(uri: unknown, change: ResourceChange["change"]): void {
    if (typeof uri !== "string" || this.#end !== undefined) return;
    const merged = merge(this.#pending.get(uri), change);
    if (merged === undefined) this.#pending.delete(uri);
    else this.#pending.set(uri, merged);
    if (!this.#held) this.#wakeUp();
  }
}

/** Merges two changes of one resource that the reader has not seen; undefined if they cancel out. */
function merge(first: ResourceChange["change"] | undefined, second: ResourceChange["change"]): ResourceChange["change"] | undefined {
  if (first === undefined) return second;
  if (second === "deleted") return first === "modified" || first === "deleted" ? "deleted" : undefined;
  if (first === "deleted") return second === "created" ? "modified" : "deleted";
  return second === "modified" ? first : second;
}

function same(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false;
  for (const uri of a) if (!b.has(uri)) return false;
  return true;
}
