import { Canceller } from "./cancel.js";
import { Fault, toFault } from "./fault.js";
import type { JsonObject } from "./json.js";
import type { Context, Replies, Reply } from "./service.js";

type Step = IteratorResult<Reply, undefined>;
/** A handler: yields replies and returns the result. */
export type Produce = (context: Context) => AsyncIterator<Reply, JsonObject | undefined, undefined>;

export const DONE: Step = { done: true, value: undefined };
const done: Promise<Step> = Promise.resolve(DONE);

/**
 * The guard around a handler written as a generator. A plain generator's return() queues behind its pending next();
 * here leaving takes effect at once: the pending next() ends, and the handler's own cancel fires.
 */
export function guard(produce: Produce, context: Context): Replies {
  return new Guarded(produce, context);
}

type State =
  | { readonly tag: "idle" }
  | { readonly tag: "running"; readonly steps: AsyncIterator<Reply, JsonObject | undefined, undefined> }
  | { readonly tag: "ended" };

const IDLE: State = { tag: "idle" };
const ENDED: State = { tag: "ended" };

class Guarded implements Replies {
  readonly #produce: Produce;
  readonly #context: Context;
  readonly #cancel = new Canceller();
  #state: State = IDLE;
  #unhook: (() => void) | undefined;
  #resolve: ((step: Step) => void) | undefined;
  #reject: ((fault: Fault) => void) | undefined;

  constructor(produce: Produce, context: Context) {
    this.#produce = produce;
    this.#context = context;
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }

  next(): Promise<Step> {
    if (this.#state.tag === "ended") return done;
    return new Promise<Step>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      try {
        const steps = this.#state.tag === "running" ? this.#state.steps : this.#start();
        steps?.next().then(this.#onStep, this.#onError);
      } catch (error) {
        this.#onError(error);
      }
    });
  }

  return(): Promise<Step> {
    if (this.#state.tag !== "ended") this.#leave(new Fault("cancelled", "the caller left"));
    return done;
  }

  #start(): AsyncIterator<Reply, JsonObject | undefined, undefined> | undefined {
    this.#unhook = this.#context.cancel.on(() =>
      this.#leave(this.#context.cancel.reason ?? new Fault("cancelled", "the call was cancelled")),
    );
    if (this.#state.tag === "ended") return undefined;
    const steps = this.#produce({ ...this.#context, cancel: this.#cancel });
    this.#state = { tag: "running", steps };
    return steps;
  }

  /** Ends from outside: whoever waits is told now, the handler hears of it through its cancel. */
  #leave(reason: Fault): void {
    const state = this.#state;
    this.#end();
    this.#cancel.fire(reason);
    if (state.tag === "running") void state.steps.return?.().then(undefined, () => {});
    const { resolve, reject } = this.#settle();
    // The caller that left wants no error; one that is still reading has to learn why.
    if (this.#context.cancel.fired) reject?.(reason);
    else resolve?.(DONE);
  }

  #end(): void {
    this.#state = ENDED;
    this.#unhook?.();
  }

  #settle(): { resolve: ((step: Step) => void) | undefined; reject: ((fault: Fault) => void) | undefined } {
    const waiting = { resolve: this.#resolve, reject: this.#reject };
    this.#resolve = this.#reject = undefined;
    return waiting;
  }

  readonly #onStep = (step: IteratorResult<Reply, JsonObject | undefined>): void => {
    if (this.#state.tag === "ended") return;
    const { resolve } = this.#settle();
    if (step.done !== true) {
      if (step.value.kind === "result") this.#end();
      resolve?.({ done: false, value: step.value });
      return;
    }
    this.#end();
    resolve?.({ done: false, value: { kind: "result", value: step.value ?? {} } });
  };

  readonly #onError = (error: unknown): void => {
    if (this.#state.tag === "ended") return;
    this.#end();
    this.#settle().reject?.(toFault(error));
  };
}

/** Replies of a handler that only makes a result. */
export function once(context: Context, answer: (context: Context) => Promise<JsonObject> | JsonObject): Replies {
  return guard((inner) => {
    let asked = false;
    return {
      async next(): Promise<IteratorResult<Reply, JsonObject | undefined>> {
        if (asked) return { done: true, value: undefined };
        asked = true;
        return { done: true, value: await answer(inner) };
      },
      return: () => Promise.resolve({ done: true as const, value: undefined }),
    };
  }, context);
}

/** Replies that fail at once. */
export function failing(fault: Fault): Replies {
  let told = false;
  return {
    next: () => {
      if (told) return done;
      told = true;
      return Promise.reject(fault);
    },
    return: () => {
      told = true;
      return done;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Reads to the end and returns the result; every other reply goes to `each`. */
export async function resultOf(replies: Replies, each?: (reply: Reply) => void | Promise<void>): Promise<JsonObject> {
  for (;;) {
    const step = await replies.next();
    if (step.done === true) throw new Fault("cancelled", "the call ended without a result");
    if (step.value.kind === "result") return step.value.value;
    const waiting = each?.(step.value);
    if (waiting !== undefined) await waiting;
  }
}

/** A deadline that can stand still while its call is parked. */
export interface Timed extends Replies {
  pause(): void;
  resume(): void;
}

/** Ends the inner replies with a `deadline` fault at `deadline` (epoch ms): one timer, cleared at the end. */
export function timed(inner: Replies, deadline: number): Timed {
  const expired = new Canceller();
  let left = deadline - Date.now();
  let started = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reject: ((fault: Fault) => void) | undefined;
  const stop = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    left -= Date.now() - started;
  };
  const start = (): void => {
    if (timer !== undefined || expired.fired) return;
    started = Date.now();
    timer = setTimeout(expire, Math.min(Math.max(left, 0), 2 ** 31 - 1));
  };
  const expire = (): void => {
    timer = undefined;
    expired.fire(new Fault("deadline", "the deadline passed before the call ended"));
    void inner.return();
    reject?.(expired.reason as Fault);
  };
  return {
    next: () =>
      new Promise<Step>((resolve, fail) => {
        if (expired.fired) return resolve(DONE);
        start();
        reject = fail;
        inner.next().then(
          (step) => {
            if (step.done === true || step.value.kind === "result") stop();
            if (!expired.fired) resolve(step);
          },
          (error) => {
            stop();
            fail(error);
          },
        );
      }),
    return: () => {
      stop();
      return inner.return();
    },
    pause: stop,
    resume: start,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
