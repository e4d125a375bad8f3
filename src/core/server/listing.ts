import { Fault } from "../fault.js";
import type { JsonObject } from "../json.js";
import type { Context, Reply, Request } from "../service.js";
import type { Awaitable, HandlerStep } from "./run.js";
import { type Pulled, pull, type Source } from "./source.js";

/** Opens one source of a list, when the list has reached it. */
export type OpenList = () => Awaitable<Source<JsonObject>>;

export interface ListingOptions {
  readonly request: Request;
  readonly context: Context;
  /** Read one after another. */
  readonly sources: readonly OpenList[];
  /** The result's members other than the items. */
  readonly rest: JsonObject;
  /** Takes what a source threw. */
  readonly report: (error: unknown) => void;
}

/** The steps of a list call: one item for each element of its sources in turn. No element is made before it is asked for. */
export function listing(options: ListingOptions): AsyncIterator<Reply, JsonObject, undefined> {
  // Items have no cursors here. The edge that makes pages of them keeps its own.
  if (options.request.params["cursor"] !== undefined) throw new Fault("invalid-params", "unknown or expired cursor");
  return new Listing(options);
}

class Listing implements AsyncIterator<Reply, JsonObject, undefined> {
  readonly #options: ListingOptions;
  #at = 0;
  #current: Pulled<JsonObject> | undefined;

  constructor(options: ListingOptions) {
    this.#options = options;
  }

  async next(): Promise<HandlerStep> {
    const { sources, context, rest, report } = this.#options;
    try {
      for (;;) {
        if (this.#current === undefined) {
          const opening = sources[this.#at++];
          if (opening === undefined) return { done: true, value: rest };
          this.#current = pull(await opening(), context.cancel);
        }
        const pulled = this.#current.next();
        const step = pulled instanceof Promise ? await pulled : pulled;
        if (step.done !== true) return { done: false, value: { kind: "item", value: step.value } };
        this.#current = undefined;
      }
    } catch (error) {
      if (!context.cancel.fired) report(error);
      throw error;
    }
  }

  async return(): Promise<HandlerStep> {
    this.#current?.close();
    return { done: true, value: this.#options.rest };
  }
}
