import { AMBIENT, type Context, Fault, failing, type Layer, type LimitName, type Message, quotaOwner, RELEASE } from "../../core/index.js";
import { dropOldest } from "../../stream/index.js";
import { lookalike } from "./lookalikes.js";

/** A number of calls in a number of milliseconds. They may all come at once. */
export interface Rate {
  readonly calls: number;
  readonly ms: number;
}

export interface RateLimits {
  /** Calls and notifications of one client: of a principal, or without one of a remote address. */
  readonly perClient?: Rate | undefined;
  /** Calls of one tool by one client. */
  readonly perTool?: Rate | undefined;
}

/** Clients that are remembered. Those that called longest ago are forgotten first. */
const CLIENTS = 10_000;
/** Tools of one client that are counted separately. The rest count as one, so that nobody can get a tool forgotten by calling others. */
const TOOLS = 256;
/** Tools of all clients together. */
const ALL_TOOLS = 100_000;

/** Not limited: calls that last as long as somebody listens, pings, and the notification that releases a list. */
const free: ReadonlySet<string> = new Set([AMBIENT, "subscriptions/listen", "ping", RELEASE]);

/**
 * Refuses a client's calls beyond its rate, with `overload` and `data.retryAfterMs`, and drops its notifications beyond it. Other clients
 * are not affected.
 */
export function limitRate({ perClient, perTool }: RateLimits): Layer {
  const clients = perClient === undefined ? undefined : new Buckets(perClient);
  const tools = perTool === undefined ? undefined : new ToolBuckets(perTool);
  const clientWait = ({ method }: Message, { client }: Context): number =>
    clients === undefined || free.has(method) ? 0 : clients.take(quotaOwner(client.identity));
  return (inner) => ({
    call(request, context) {
      const wait = clientWait(request, context);
      if (wait > 0) return failing(tooMany("clientRate", wait));
      const disguised = tools === undefined ? undefined : lookalike(request);
      if (disguised !== undefined) return failing(disguised);
      const { name } = request.params;
      if (tools === undefined || request.method !== "tools/call" || typeof name !== "string") return inner.call(request, context);
      const later = tools.take(quotaOwner(context.client.identity), name.slice(0, 128));
      return later > 0 ? failing(tooMany("toolRate", later)) : inner.call(request, context);
    },
    // A server may do as much work for a notification as for a call.
    async notify(notification, context) {
      const wait = clientWait(notification, context);
      if (wait > 0) throw tooMany("clientRate", wait);
      return inner.notify(notification, context);
    },
  });
}

function tooMany(limit: LimitName, wait: number): Fault {
  const retryAfterMs = Math.ceil(wait);
  return new Fault("overload", `too many calls; try again in ${retryAfterMs} ms`, { data: { limit, retryAfterMs } });
}

/** What is left of a rate, and since when. */
interface Bucket {
  left: number;
  since: number;
}

class Buckets {
  readonly #rate: Rate;
  /** The last used comes last. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  get size(): number {
    return this.#buckets.size;
  }

  has(key: string): boolean {
    return this.#buckets.has(key);
  }

  /** Takes one call out. Returns the milliseconds until there is one, or 0. */
  take(key: string): number {
    const { calls, ms } = this.#rate;
    const found = this.#buckets.get(key) ?? { left: calls, since: performance.now() };
    this.#fill(found);
    this.#buckets.delete(key);
    if (this.#buckets.size >= CLIENTS) dropOldest(this.#buckets);
    this.#buckets.set(key, found);
    if (found.left < 1) return ((1 - found.left) / calls) * ms;
    found.left -= 1;
    return 0;
  }

  /** Forgets the buckets that were used longest ago and are full again: they hold no information. */
  forgetFull(): void {
    for (const [key, bucket] of this.#buckets) {
      if (this.#fill(bucket) < this.#rate.calls) return;
      this.#buckets.delete(key);
    }
  }

  #fill(bucket: Bucket): number {
    const { calls, ms } = this.#rate;
    const now = performance.now();
    bucket.left = Math.min(calls, bucket.left + ((now - bucket.since) / ms) * calls);
    bucket.since = now;
    return bucket.left;
  }
}

/** The key for the rest. No tool can have it, because the keys of tools have a prefix. */
const REST = "rest";

class ToolBuckets {
  readonly #rate: Rate;
  /** By client. The one that called last comes last. */
  readonly #clients = new Map<string, Buckets>();
  #size = 0;

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  take(client: string, tool: string): number {
    const own = this.#clients.get(client) ?? new Buckets(this.#rate);
    this.#clients.delete(client);
    this.#clients.set(client, own);
    this.#size -= own.size;
    const key = `tool ${tool}`;
    if (own.size >= TOOLS && !own.has(key)) own.forgetFull();
    const wait = own.take(own.size < TOOLS || own.has(key) ? key : REST);
    this.#size += own.size;
    for (const [oldest, buckets] of this.#clients) {
      if (this.#size <= ALL_TOOLS || buckets === own) break;
      this.#clients.delete(oldest);
      this.#size -= buckets.size;
    }
    return wait;
  }
}
