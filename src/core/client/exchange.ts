import { type CallAgain, callAgain, requiresInput } from "../call-again.js";
import { type Canceller, reasonOf } from "../cancel.js";
import { Fault, toFault } from "../fault.js";
import type { JsonObject } from "../json.js";
import { fixedLimits } from "../limits.js";
import { RELEASE } from "../parked.js";
import { DONE, type Timed, timed } from "../replies.js";
import type { Ask, Context, Replies, Reply, Request, Service } from "../service.js";
import type { AskAnswers } from "./asks.js";
import { readable } from "./readable.js";

type Step = IteratorResult<Reply, undefined>;
const done: Promise<Step> = Promise.resolve(DONE);

let count = 0;

/** Questions of one call that handlers answer at a time. */
const mostAsks = fixedLimits.asks;

/** What an exchange needs of the client it belongs to. */
export interface Home {
  readonly service: Service;
  readonly answers: AskAnswers;
  readonly maxRounds: number;
  /** Called when the first next() comes; the fault of a client that is closed. */
  enter(exchange: CallExchange): Fault | undefined;
  leave(exchange: CallExchange): void;
  /** Hears of what is no matter of one call's result. */
  report(fault: Fault): void;
}

/** How a call starts: made when the first next() comes, so that its deadline counts from there. */
export interface ExchangeStart {
  readonly context: Context;
  readonly cancel: Canceller;
  /** Unhooks the caller's signal. */
  readonly release?: () => void;
}

/**
 * One call as its caller sees it: asks in the middle are answered while reading goes on, and a result that requires input
 * is answered by calling again, so that neither is ever a reply.
 */
export class CallExchange implements Replies {
  /** Names it among all others. */
  readonly number: number = ++count;
  readonly #home: Home;
  readonly #begin: () => ExchangeStart;
  readonly #request: Request;
  #start: ExchangeStart | undefined;
  #inner: Replies | undefined;
  #timed: Timed | undefined;
  #deadline: number | undefined;
  /** Whether no call is open, because the answers for its next round are waited for. */
  #gathering = false;
  #asks: Set<Canceller> | undefined;
  #ended = false;
  #failure: Fault | undefined;
  #resolve: ((step: Step) => void) | undefined;
  #reject: ((fault: Fault) => void) | undefined;

  constructor(home: Home, request: Request, begin: () => ExchangeStart) {
    this.#home = home;
    this.#request = request;
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }

  next(): Promise<Step> {
    if (this.#failure !== undefined) {
      const failure = this.#failure;
      this.#failure = undefined;
      return Promise.reject(failure);
    }
    if (this.#ended) return done;
    return new Promise<Step>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (this.#inner === undefined) this.#open();
      this.#pull();
    });
  }

  return(): Promise<Step> {
    this.#failure = undefined;
    if (this.#ended) return done;
    this.#end();
    void this.#inner?.return();
    this.#resolve?.(DONE);
    return done;
  }

  /** Ends it from outside: a pending next() fails now, or else the next one. */
  fail(fault: Fault): void {
    if (this.#ended) return;
    this.#end();
    this.#start?.cancel.fire(fault);
    void this.#inner?.return();
    if (this.#reject === undefined) this.#failure = fault;
    else this.#reject(fault);
  }

  /** The connection is gone. An open call learns that in its turn, behind what has arrived; one between two rounds has to be told. */
  lost(fault: Fault): void {
    if (this.#gathering) this.fail(fault);
  }

  #open(): void {
    const refused = this.#home.enter(this);
    if (refused !== undefined) {
      this.fail(refused);
      return;
    }
    const start = (this.#start = this.#begin());
    this.#deadline = start.context.deadline;
    if (start.release !== undefined) start.cancel.on(() => this.fail(reasonOf(start.cancel)));
    if (!this.#ended) this.#read(this.#home.service.call(this.#request, start.context));
  }

  #read(replies: Replies): void {
    this.#inner = this.#deadline === undefined ? replies : (this.#timed = timed(replies, this.#deadline));
  }

  #pull(): void {
    if (this.#ended) return;
    this.#inner?.next().then(this.#onStep, this.#onError);
    // Reading starts the timer again; it stands still as long as handlers answer.
    if (this.#asks !== undefined && this.#asks.size > 0) this.#timed?.pause();
  }

  readonly #onStep = (step: Step): void => {
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

  /** Gives the reader a reply. One that it cannot read fails the call; a notification that it cannot read is only reported. */
  #give(reply: Reply): void {
    let value: Reply;
    try {
      value = readable(reply);
    } catch (error) {
      if (!("params" in reply)) return this.fail(toFault(error));
      this.#home.report(toFault(error));
      return this.#pull();
    }
    if (reply.kind === "result") this.#end();
    const resolve = this.#resolve;
    this.#resolve = this.#reject = undefined;
    resolve?.({ done: false, value });
  }

  readonly #onError = (error: unknown): void => this.fail(toFault(error));

  /** A deadline that passes between two reads ends the replies without a word. */
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
    const taken = this.#home.answers.take(ask, (cancel) => {
      asks.delete(cancel);
      if (asks.size === 0 && !this.#ended) this.#timed?.resume();
    });
    if (!taken.fired) asks.add(taken);
  }

  #again(required: JsonObject): CallAgain {
    const { service, maxRounds } = this.#home;
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
    this.#home.leave(this);
    if (this.#asks === undefined) return;
    for (const cancel of this.#asks) cancel.fire(new Fault("cancelled", "the call ended before the answer came"));
  }
}
