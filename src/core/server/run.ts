import { overtime } from "../../stream/index.js";
import { Fault } from "../fault.js";
import type { JsonObject } from "../json.js";
import type { Context, Reply } from "../service.js";
import { Question } from "./question.js";
import { wantsLog, type Yield } from "./yields.js";

export type Awaitable<T> = T | Promise<T>;
/** What a handler returns: its result, directly or as a promise, or a generator that yields before it returns the result. */
export type Handled<R> = Awaitable<R> | AsyncGenerator<Yield, R, undefined>;

/** Turns what a handler yields into replies; undefined for what the client does not want. */
export class YieldedReplies {
  readonly #context: Context;
  #asks = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  reply(yielded: Yield): Reply | undefined {
    if (yielded instanceof Question) return yielded.open(`ask-${++this.#asks}`, this.#context);
    switch (yielded?.kind) {
      case "progress":
        return this.#context.progress ? yielded : undefined;
      case "log":
        return wantsLog(yielded, this.#context) ? yielded : undefined;
      case "note":
        return yielded;
      default:
        throw new Fault("internal", "a handler yielded something that is not a reply");
    }
  }
}

/** One handler's work: `start` runs it, `end` turns its result into the protocol's form, `fail` answers what it threw or rethrows it. */
export interface HandlerWork {
  start(): unknown;
  end(result: unknown): Awaitable<JsonObject>;
  fail(error: unknown): JsonObject;
}

/** Drives a handler's work as the steps of a call. */
export function runHandler(work: HandlerWork, context: Context): AsyncIterator<Reply, JsonObject, undefined> {
  return new Run(work, context);
}

type Steps = AsyncGenerator<Yield, unknown, undefined>;

/** What `next()` of a handler gives: a reply, or the result. */
export type HandlerStep = IteratorResult<Reply, JsonObject>;

class Run implements AsyncIterator<Reply, JsonObject, undefined> {
  readonly #work: HandlerWork;
  readonly #outlet: YieldedReplies;
  readonly #context: Context;
  #steps: Steps | undefined;

  constructor(work: HandlerWork, context: Context) {
    this.#work = work;
    this.#context = context;
    this.#outlet = new YieldedReplies(context);
  }

  async next(): Promise<IteratorResult<Reply, JsonObject>> {
    try {
      if (this.#steps === undefined) {
        const started = await this.#work.start();
        if (!isSteps(started)) return { done: true, value: await this.#work.end(started) };
        // Nothing of the generator has run yet. If the caller has left meanwhile, it never runs.
        if (this.#context.cancel.fired) throw this.#context.cancel.reason;
        this.#steps = started;
      }
      for (let round = 1; ; round++) {
        const step = await this.#steps.next();
        if (step.done === true) return { done: true, value: await this.#work.end(step.value) };
        const reply = this.#outlet.reply(step.value);
        if (reply !== undefined) return { done: false, value: reply };
        const rest = overtime(round);
        if (rest !== undefined) await rest;
      }
    } catch (error) {
      // An error after the call was cancelled is neither an answer nor worth a report.
      if (this.#context.cancel.fired) throw error;
      return { done: true, value: this.#work.fail(error) };
    }
  }

  async return(): Promise<IteratorResult<Reply, JsonObject>> {
    await this.#steps?.return(undefined);
    return { done: true, value: {} };
  }
}

function isSteps(value: unknown): value is Steps {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value && "return" in value;
}
