import { AMBIENT, Fault, failing, type Layer, type LimitName, quotaOwner } from "../../core/index.js";
import { dropOldest } from "../../stream/index.js";

/** So many calls in so many milliseconds; as many may come at once. */
export interface Rate {
  readonly calls: number;
  readonly ms: number;
}

export interface RateLimits {
  /** Calls of one client: of a principal, or without one of a remote address. */
  readonly perClient?: Rate | undefined;
  /** Calls of one tool by one client. */
  readonly perTool?: Rate | undefined;
}

/** Clients and tools that are remembered: those that have been called longest ago are forgotten first. */
const REMEMBERED = 10_000;

/** Calls that last as long as somebody listens, and signs of life. */
const free: ReadonlySet<string> = new Set([AMBIENT, "subscriptions/listen", "ping"]);

/** Refuses what a client calls beyond its rate, with `overload` and `data.retryAfterMs`. Other clients do not notice. */
export function limitRate({ perClient, perTool }: RateLimits): Layer {
  const clients = perClient === undefined ? undefined : new Buckets(perClient);
  const tools = perTool === undefined ? undefined : new Buckets(perTool);
  return (inner) => ({
    call(request, context) {
      if (free.has(request.method)) return inner.call(request, context);
      const owner = quotaOwner(context.client.identity);
      const wait = clients?.take(owner) ?? 0;
      if (wait > 0) return failing(tooMany("clientRate", wait));
      const { name } = request.params;
      if (tools === undefined || request.method !== "tools/call" || typeof name !== "string") return inner.call(request, context);
      const later = tools.take(`${owner}\0${name.slice(0, 128)}`);
      return later > 0 ? failing(tooMany("toolRate", later)) : inner.call(request, context);
    },
    notify: (notification, context) => inner.notify(notification, context),
  });
}

function tooMany(limit: LimitName, wait: number): Fault {
  const retryAfterMs = Math.ceil(wait);
  return new Fault("overload", `too many calls; try again in ${retryAfterMs} ms`, { data: { limit, retryAfterMs } });
}

class Buckets {
  readonly #rate: Rate;
  /** What is left, and since when; the one that was used last comes last. */
  readonly #buckets = new Map<string, { left: number; since: number }>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Takes one call out; milliseconds until there is one, if there is none. */
  take(key: string): number {
    const { calls, ms } = this.#rate;
    const now = performance.now();
    const found = this.#buckets.get(key) ?? { left: calls, since: now };
    found.left = Math.min(calls, found.left + ((now - found.since) / ms) * calls);
    found.since = now;
    this.#buckets.delete(key);
    if (this.#buckets.size >= REMEMBERED) dropOldest(this.#buckets);
    this.#buckets.set(key, found);
    if (found.left < 1) return ((1 - found.left) / calls) * ms;
    found.left -= 1;
    return 0;
  }
}
