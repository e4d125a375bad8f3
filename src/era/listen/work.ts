import { type Ask, DONE, type Held, type Replies, type Reply, type ReplyStep } from "../../core/index.js";
import { overtime } from "../../stream/index.js";
import { Contents } from "./contents.js";

/** Returned if nothing came within a turn of the event loop. */
export const WAITING: unique symbol = Symbol("waiting");

/** Milliseconds in which more asks are gathered while the call goes on. */
const GATHER_MS = 50;

/** A call that is being answered. It may outlive the request that began it: it is parked while its asks are open. */
export class Work {
  /** What was read of a resource but not sent yet. */
  readonly contents: Contents = new Contents();
  /** Counts the contents while the call is parked. */
  held: Held | undefined;
  /** Whether it waits for the client's next request. */
  parked = false;
  /** Ends the caller that made the first request, if it was kept for the others. */
  endCaller: (() => void) | undefined;
  #asks: Map<string, Ask> | undefined;
  #replies: Replies;
  #next: Promise<ReplyStep> | undefined;
  #ahead: Reply | undefined;
  #asked = 0;
  #steps = 0;

  constructor(replies: Replies) {
    this.#replies = replies;
  }

  /** The asks that wait for the client's next request. */
  get asks(): Map<string, Ask> {
    this.#asks ??= new Map();
    return this.#asks;
  }

  next(): Promise<ReplyStep> {
    if (this.#ahead !== undefined) {
      const value = this.#ahead;
      this.#ahead = undefined;
      return Promise.resolve({ done: false, value });
    }
    const next = this.#next ?? this.#replies.next();
    this.#next = undefined;
    return next;
  }

  /** Like next(), but does not wait long. What comes later is kept for the next time. */
  async soon(): Promise<ReplyStep | typeof WAITING> {
    const next = this.next();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<typeof WAITING>((resolve) => {
      timer = setTimeout(resolve, 1, WAITING);
    });
    try {
      const first = await Promise.race([next, late]);
      if (first === WAITING) {
        this.#next = next;
        // If it fails while nobody reads, the next reader gets the fault.
        next.catch(() => {});
      }
      return first;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The next reply; WAITING when it is time to send the client the open asks. */
  step(): Promise<ReplyStep | typeof WAITING> {
    // A handler may never wait for anything, and neither may a link whose client has left or wants nothing. So this yields to others now
    // and then.
    const rest = overtime(++this.#steps);
    if (rest !== undefined) return rest.then(() => this.#step());
    // Not in an async function: returning a promise from one takes three turns of the microtask queue.
    return this.#asks === undefined || this.#asks.size === 0 ? this.next() : this.#step();
  }

  async #step(): Promise<ReplyStep | typeof WAITING> {
    if (this.#asks === undefined || this.#asks.size === 0) return this.next();
    if (Date.now() - this.#asked > GATHER_MS) return WAITING;
    const step = await this.soon();
    // All may have been withdrawn meanwhile. Then there is nothing to send.
    return step === WAITING && this.#asks.size === 0 ? this.next() : step;
  }

  /** Puts a reply back, to be read again first. */
  unread(reply: Reply): void {
    this.#ahead = reply;
  }

  /** Continues with other replies after the current ones have ended. */
  over(replies: Replies): void {
    this.#replies = replies;
  }

  /** Keeps an ask for the client's next request. */
  hold(ask: Ask): void {
    if (this.asks.size === 0) this.#asked = Date.now();
    this.asks.set(ask.key, ask);
    ask.cancel.on(() => this.asks.delete(ask.key));
  }

  /** Ends the call: the handler's cancel fires, and its asks are withdrawn. */
  leave(): void {
    this.held?.free();
    void this.#replies.return();
    this.endCaller?.();
  }
}

/** Replies that already exist. */
export function repliesOf(replies: Iterable<Reply>): Replies {
  const steps = replies[Symbol.iterator]();
  return {
    next: async () => {
      const step = steps.next();
      return step.done === true ? DONE : { done: false, value: step.value };
    },
    return: () => Promise.resolve(DONE),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
