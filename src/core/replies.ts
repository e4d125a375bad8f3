import { overtime, timerMs } from "../stream/index.js";
import { Canceller, reasonOf } from "./cancel.js";
import { Fault, toFault } from "./fault.js";
import type { JsonObject } from "./json.js";
import type { Context, Replies, Reply, ReplyStep } from "./service.js";

/** A handler: yields replies and returns the result. */
export type Produce = (context: Context) => AsyncIterator<Reply, JsonObject | undefined, undefined>;

export const DONE: ReplyStep = { done: true, value: undefined };
const done: Promise<ReplyStep> = Promise.resolve(DONE);

/**
 * The guard around a handler written as a generator. A plain generator's return() queues behind its pending next(). Here leaving takes
 * effect at once: the pending next() ends, and the handler's own cancel fires.
 */
export function guard(produce: Produce, context: Context): Replies {
  return new Guarded(produce, context);
}

type State =
  | { readonly tag: "idle" }
  | { readonly tag: "running"; readonly steps: AsyncIterator<Reply, JsonObject | undefined, undefined> }
  | { readonly tag: "cancelled"; readonly reason: Fault } // to be thrown once
  | { readonly tag: "ended" };

const IDLE: State = { tag: "idle" };
const ENDED: State = { tag: "ended" };

class Guarded implements Replies {
  readonly #produce: Produce;
  readonly #context: Context;
  readonly #cancel = new Canceller();
  #state: State = IDLE;
  #unhook: (() => void) | undefined;
  #resolve: ((step: ReplyStep) => void) | undefined;
  #reject: ((fault: Fault) => void) | undefined;

  constructor(produce: Produce, context: Context) {
    this.#produce = produce;
    this.#context = context;
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }

  next(): Promise<ReplyStep> {
    if (this.#state.tag === "ended") return done;
    if (this.#state.tag === "cancelled") {
      const { reason } = this.#state;
      this.#state = ENDED;
      return Promise.reject(reason);
    }
    return new Promise<ReplyStep>((resolve, reject) => {
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

  return(): Promise<ReplyStep> {
    if (this.#live) this.#leave(new Fault("cancelled", "the caller left"));
    this.#state = ENDED;
    this.#settle().resolve?.(DONE);
    return done;
  }

  get #live(): boolean {
    return this.#state.tag === "idle" || this.#state.tag === "running";
  }

  #start(): AsyncIterator<Reply, JsonObject | undefined, undefined> | undefined {
    this.#unhook = this.#context.cancel.on(() => this.#cancelled(reasonOf(this.#context.cancel)));
    if (!this.#live) return undefined;
    const steps = this.#produce({ ...this.#context, cancel: this.#cancel });
    this.#state = { tag: "running", steps };
    return steps;
  }

  /** A caller that left wants no error. One that reads now or later gets the reason. */
  #cancelled(reason: Fault): void {
    this.#leave(reason);
    const { reject } = this.#settle();
    if (reject === undefined) this.#state = { tag: "cancelled", reason };
    else reject(reason);
  }

  /** Ends the call from outside. The handler learns of it through its cancel. */
  #leave(reason: Fault): void {
    const state = this.#state;
    this.#end();
    this.#cancel.fire(reason);
    if (state.tag === "running") void state.steps.return?.().then(undefined, () => {});
  }

  #end(): void {
    this.#state = ENDED;
    this.#unhook?.();
  }

  #settle(): { resolve: ((step: ReplyStep) => void) | undefined; reject: ((fault: Fault) => void) | undefined } {
    const waiting = { resolve: this.#resolve, reject: this.#reject };
    this.#resolve = this.#reject = undefined;
    return waiting;
  }

  readonly #onStep = (step: IteratorResult<Reply, JsonObject | undefined>): void => {
    if (!this.#live) return;
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
    if (!this.#live) return;
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

/** Reads to the end and returns the result; every other reply goes to `each`. If that throws, the call is left. */
export async function resultOf(replies: Replies, each: (reply: Reply) => void | Promise<void> = ignored): Promise<JsonObject> {
  for (let round = 1; ; round++) {
    const step = await replies.next();
    if (step.done === true) throw new Fault("cancelled", "the call ended without a result");
    if (step.value.kind === "result") return step.value.value;
    try {
      const waiting = each(step.value);
      if (waiting !== undefined) await waiting;
    } catch (error) {
      void replies.return();
      throw error;
    }
    const rest = overtime(round);
    if (rest !== undefined) await rest;
  }
}

/** The default of `each`. Only an ask has someone who waits, so it is refused. */
function ignored(reply: Reply): void {
  if (reply.kind === "ask") reply.ask.refuse(new Fault("unknown-method", `no client here can answer ${reply.ask.request.method}`));
}

/** Replies with a deadline that can be paused while the call is parked. */
export interface DeadlineReplies extends Replies {
  pause(): void;
  resume(): void;
}

/** Ends the inner replies with a `deadline` fault at `deadline` (epoch ms): one timer, cleared at the end. */
export function withDeadline(inner: Replies, deadline: number): DeadlineReplies {
  return new RepliesWithDeadline(inner, deadline);
}

class RepliesWithDeadline implements DeadlineReplies {
  readonly #inner: Replies;
  #left: number;
  #since = 0;
  #paused = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reject: ((fault: Fault) => void) | undefined;
  #state: "running" | "late" | "ended" = "running";

  constructor(inner: Replies, deadline: number) {
    this.#inner = inner;
    this.#left = deadline - Date.now();
  }

  [Symbol.asyncIterator](): DeadlineReplies {
    return this;
  }

  next(): Promise<ReplyStep> {
    if (this.#state === "ended") return done;
    if (this.#state === "late") return Promise.reject(this.#tell());
    if (!this.#paused) this.#start();
    return new Promise<ReplyStep>((resolve, reject) => {
      this.#reject = reject;
      this.#inner.next().then(
        (step) => {
          this.#reject = undefined;
          if (this.#state === "running" && (step.done === true || step.value.kind === "result")) this.#end();
          resolve(step);
        },
        (error) => {
          this.#end();
          reject(error);
        },
      );
    });
  }

  return(): Promise<ReplyStep> {
    this.#end();
    return this.#inner.return();
  }

  pause(): void {
    this.#paused = true;
    this.#stop();
  }

  resume(): void {
    this.#paused = false;
    if (this.#state === "running") this.#start();
  }

  #start(): void {
    if (this.#timer !== undefined) return;
    this.#since = Date.now();
    this.#timer = setTimeout(() => this.#expire(), timerMs(Math.max(this.#left, 0)));
  }

  #stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left -= Date.now() - this.#since;
  }

  #end(): void {
    this.#stop();
    this.#state = "ended";
  }

  #expire(): void {
    this.#timer = undefined;
    void this.#inner.return();
    this.#state = "late";
    // If nobody reads just now, the next next() rejects.
    if (this.#reject !== undefined) this.#reject(this.#tell());
  }

  #tell(): Fault {
    this.#state = "ended";
    return new Fault("deadline", "the deadline passed before the call ended");
  }
}
