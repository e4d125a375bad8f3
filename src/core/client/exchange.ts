import { type CallAgain, callAgain, requiresInput } from "../call-again.js";
import { type Canceller, reasonOf } from "../cancel.js";
import { Fault, toFault } from "../fault.js";
import type { JsonObject } from "../json.js";
import { fixedLimits } from "../limits.js";
import { RELEASE } from "../parked.js";
import { type DeadlineReplies, DONE, withDeadline } from "../replies.js";
import type { Ask, Context, Replies, Reply, ReplyStep, Request, Service } from "../service.js";
import type { AskAnswers } from "./asks.js";
import { readable } from "./readable.js";

const done: Promise<ReplyStep> = Promise.resolve(DONE);

let count = 0;

/** Questions of one call that handlers may be answering at the same time. */
const mostAsks = fixedLimits.asks;

/** What an exchange needs from its client. */
export interface ExchangeOwner {
  readonly service: Service;
  readonly answers: AskAnswers;
  readonly maxRounds: number;
  /** Called at the first next(). Returns the fault if the client is closed. */
  enter(exchange: CallExchange): Fault | undefined;
  leave(exchange: CallExchange): void;
  /** Reports what has nothing to do with the result of a call. */
  report(fault: Fault): void;
}

/** How a call starts. Made at the first next(), so that the deadline counts from there. */
export interface ExchangeStart {
  readonly context: Context;
  readonly cancel: Canceller;
  /** Stops listening to the caller's signal. */
  readonly release?: () => void;
}

/**
 * One call as its caller sees it. Asks are answered while reading goes on, and a result that requires input is answered by calling again,
 * so the caller sees neither.
 */
export class CallExchange implements Replies {
  /** A number that no other exchange has. */
  readonly number: number = ++count;
  readonly #owner: ExchangeOwner;
  readonly #begin: () => ExchangeStart;
  readonly #request: Request;
  /** Whether the reader takes exact numbers. */
  readonly #exact: boolean;
  #start: ExchangeStart | undefined;
  #inner: Replies | undefined;
  #timed: DeadlineReplies | undefined;
  #deadline: number | undefined;
  /** Whether the exchange waits for answers between two rounds, so that no call is open. */
  #gathering = false;
  #asks: Set<Canceller> | undefined;
  #ended = false;
  #failure: Fault | undefined;
  #resolve: ((step: ReplyStep) => void) | undefined;
  #reject: ((fault: Fault) => void) | undefined;

  constructor(owner: ExchangeOwner, request: Request, begin: () => ExchangeStart, exact = false) {
    this.#exact = exact;
    this.#owner = owner;
    this.#request = request;
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }

  next(): Promise<ReplyStep> {
    if (this.#failure !== undefined) {
      const failure = this.#failure;
      this.#failure = undefined;
      return Promise.reject(failure);
    }
    if (this.#ended) return done;
    return new Promise<ReplyStep>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (this.#inner === undefined) this.#open();
      this.#pull();
    });
  }

  return(): Promise<ReplyStep> {
    this.#failure = undefined;
    if (this.#ended) return done;
    this.#end();
    void this.#inner?.return();
    this.#resolve?.(DONE);
    return done;
  }

  /** Ends the call from outside: a pending next() fails now, or else the next one does. */
  fail(fault: Fault): void {
    if (this.#ended) return;
    this.#end();
    this.#start?.cancel.fire(fault);
    void this.#inner?.return();
    if (this.#reject === undefined) this.#failure = fault;
    else this.#reject(fault);
  }

  /** The connection was lost. An open call learns it by itself, after what has arrived; a call between two rounds has to be told. */
  lost(fault: Fault): void {
    if (this.#gathering) this.fail(fault);
  }

  #open(): void {
    const refused = this.#owner.enter(this);
    if (refused !== undefined) {
      this.fail(refused);
      return;
    }
    const start = (this.#start = this.#begin());
    this.#deadline = start.context.deadline;
    if (start.release !== undefined) start.cancel.on(() => this.fail(reasonOf(start.cancel)));
    if (!this.#ended) this.#read(this.#owner.service.call(this.#request, start.context));
  }

  #read(replies: Replies): void {
    this.#inner = this.#deadline === undefined ? replies : (this.#timed = withDeadline(replies, this.#deadline));
  }

  #pull(): void {
    if (this.#ended) return;
    this.#inner?.next().then(this.#onStep, this.#onError);
    // next() starts the timer again. It is paused while handlers answer.
    if (this.#asks !== undefined && this.#asks.size > 0) this.#timed?.pause();
  }

  readonly #onStep = (step: ReplyStep): void => {
    if (this.#ended) return;
    if (step.done === true) this.fail(this.#cutShort());
    else if (step.value.kind === "ask") {
      this.#take(step.value.ask);
      this.#pull();
    } else if (step.value.kind === "result" && requiresInput(step.value.value)) {
      this.#read(callAgain(this.#again(step.value.value)));
      this.#pull();
    } else this.#give(step.value);
  };

  /** Gives the reader a reply. If a reply cannot be read, the call fails; an unreadable notification is only reported. */
  #give(reply: Reply): void {
    let value: Reply;
    try {
      value = this.#exact ? reply : readable(reply);
    } catch (error) {
      if (!("params" in reply)) return this.fail(toFault(error));
      this.#owner.report(toFault(error));
      return this.#pull();
    }
    if (reply.kind === "result") this.#end();
    const resolve = this.#resolve;
    this.#resolve = this.#reject = undefined;
    resolve?.({ done: false, value });
  }

  readonly #onError = (error: unknown): void => this.fail(toFault(error));

  /** The replies may end without a fault if the deadline passes between two reads. This finds the reason. */
  #cutShort(): Fault {
    if (this.#deadline !== undefined && Date.now() >= this.#deadline)
      return new Fault("deadline", "the deadline passed before the call ended");
    return this.#start?.cancel.reason ?? new Fault("cancelled", "the call ended without a result");
  }

  #take(ask: Ask): void {
    const asks = (this.#asks ??= new Set());
    if (asks.size >= mostAsks) {
      ask.refuse(new Fault("overload", `more than ${mostAsks} questions are open`, { data: { limit: "asks", max: mostAsks } }));
      return;
    }
    const taken = this.#owner.answers.take(ask, (cancel) => {
      asks.delete(cancel);
      if (asks.size === 0 && !this.#ended) this.#timed?.resume();
    });
    if (!taken.fired) asks.add(taken);
  }

  #again(required: JsonObject): CallAgain {
    const { service, maxRounds } = this.#owner;
    const { context } = this.#start as ExchangeStart;
    return {
      request: this.#request,
      context,
      required,
      maxRounds,
      call: (request, inner) => service.call(request, inner),
      release: (kept) => void service.notify({ method: RELEASE, params: kept }, context).catch(() => {}),
      waits: (waiting) => {
        this.#gathering = waiting;
      },
    };
  }

  #end(): void {
    this.#ended = true;
    this.#start?.release?.();
    this.#owner.leave(this);
    if (this.#asks === undefined) return;
    for (const cancel of this.#asks) cancel.fire(new Fault("cancelled", "the call ended before the answer came"));
  }
}
