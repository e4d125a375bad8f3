import type { Id } from "../../codec/index.js";
import {
  type Context,
  DONE,
  Fault,
  type JsonObject,
  Loan,
  type Replies,
  type Reply,
  type ReplyStep,
  type Request,
  reasonOf,
  toFault,
  weigh,
} from "../../core/index.js";
import { WINDOW_BYTES } from "../keys.js";
import { weighPart } from "../size.js";
import type { CallWatch } from "../watch/call-watch.js";
import { wantsLevel } from "./wants.js";

/** What a call needs from its link. */
export interface LinkCaller {
  /** Sends the request and registers the call under its id. Throws if it cannot be sent. */
  open(call: LinkCall): Id;
  /** The call has ended on this side. `tell`: the peer still works on it and is told. */
  close(call: LinkCall, tell: boolean, reason?: Fault): void;
  /** The call has ended, but nobody read its result. */
  unread(call: LinkCall, result: JsonObject): void;
  /** The reader has taken `bytes` of notifications. */
  consumed(call: LinkCall, bytes: number): void;
  /** The reader has fallen behind (`held`), or has caught up. */
  pace(call: LinkCall, held: boolean): void;
  /** Bytes that may wait for the reader of a call. */
  roomFor(call: LinkCall): number;
  /** Whether the link needs to know what the reader has taken. */
  readonly counts: boolean;
}

/** Replies that were read but may still be kept in the queue. */
const COMPACT = 64;

type State =
  | { readonly tag: "idle" }
  | { readonly tag: "open" }
  | { readonly tag: "ending"; readonly fault: Fault } // to be thrown once, after the waiting replies
  | { readonly tag: "ended" };

const IDLE: State = { tag: "idle" };
const OPEN: State = { tag: "open" };
/** For a call with no waiting replies, as most. */
const NONE: number[] = [];
const ENDED: State = { tag: "ended" };

/** One request on a link and what comes back for it. */
export class LinkCall implements Replies {
  readonly request: Request;
  readonly context: Context;
  id: Id = -1;
  watch: CallWatch | undefined;
  readonly #caller: LinkCaller;
  #state: State = IDLE;
  #queue: Reply[] = [];
  /** The weight of each waiting reply. */
  #weights: number[] = NONE;
  #read = 0;
  #bytes = 0;
  #held = false;
  #room = 0;
  #resolve: ((step: ReplyStep) => void) | undefined;
  #reject: ((fault: Fault) => void) | undefined;
  #unhook: (() => void) | undefined;
  #loan: Loan | undefined;
  #lent: number | undefined;

  constructor(request: Request, context: Context, caller: LinkCaller) {
    this.request = request;
    this.context = context;
    this.#caller = caller;
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }

  next(): Promise<ReplyStep> {
    if (this.#state === IDLE) this.#open();
    if (this.#read < this.#queue.length) return Promise.resolve({ done: false, value: this.#shift() });
    if (this.#state.tag === "ending") {
      const { fault } = this.#state;
      this.#state = ENDED;
      return Promise.reject(fault);
    }
    if (this.#state === ENDED) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  return(): Promise<ReplyStep> {
    this.#leave();
    return Promise.resolve(DONE);
  }

  /** Whether this call wants a log entry of this level. */
  wantsLog(level: unknown): boolean {
    return wantsLevel(this.context, level);
  }

  /** How much more than others it may have in flight: at most this, decided when it is first asked for. */
  lent(bytes: number): number {
    return (this.#lent ??= (this.#loan = new Loan(this)).raise(bytes));
  }

  /** Whether its reader waits for the next reply. */
  get waiting(): boolean {
    return this.#resolve !== undefined;
  }

  /** Takes a reply that may not belong to this call, so it must not make the call fail. False if there is no room. */
  offer(reply: Reply): boolean {
    if (this.#state !== OPEN || this.#bytes + weighReply(reply) > this.#room / 2) return false;
    this.push(reply);
    return true;
  }

  /** Takes a reply of this call. */
  push(reply: Reply): void {
    if (this.#state !== OPEN) return;
    this.watch?.reply(reply);
    if (reply.kind === "result") this.#finish();
    if (this.#resolve !== undefined) {
      const { resolve } = this.#settle();
      if (this.#caller.counts) this.#account(reply, weighReply(reply));
      return resolve?.({ done: false, value: reply });
    }
    const weight = weighReply(reply);
    this.#queue.push(reply);
    if (this.#weights === NONE) this.#weights = [];
    this.#weights.push(weight);
    this.#bytes += weight;
    if (reply.kind === "result") return;
    if (!this.#held && this.#bytes > this.#enough) this.#caller.pace(this, (this.#held = true));
    if (this.#bytes <= this.#room) return;
    const fault = new Fault("overload", "the reader of this call is too slow for what its server sends", {
      data: { limit: "callBytes", max: this.#room },
    });
    this.#caller.close(this, true, fault);
    this.#empty();
    this.fail(fault);
  }

  /** Fails the call. Waiting replies are still read first. */
  fail(fault: Fault): void {
    if (this.#state !== OPEN) return;
    this.watch?.fail(fault);
    this.#finish();
    if (this.#reject !== undefined) return this.#settle().reject?.(fault);
    this.#state = { tag: "ending", fault };
  }

  #open(): void {
    const { cancel } = this.context;
    if (cancel.fired) {
      this.#state = { tag: "ending", fault: reasonOf(cancel) };
      return;
    }
    try {
      this.#room = this.#caller.roomFor(this);
      this.id = this.#caller.open(this);
      this.#state = OPEN;
      this.#unhook = cancel.on(() => this.#cancelled(reasonOf(cancel)));
    } catch (error) {
      this.#state = { tag: "ending", fault: toFault(error) };
    }
  }

  #cancelled(reason: Fault): void {
    if (this.#state !== OPEN) return;
    this.#caller.close(this, true, reason);
    this.#empty();
    this.fail(reason);
  }

  #leave(): void {
    if (this.#state === OPEN) {
      this.#caller.close(this, true);
      this.watch?.fail(new Fault("cancelled", "the caller left the call"));
    }
    this.#finish();
    const last = this.#queue.at(-1);
    if (last?.kind === "result") this.#caller.unread(this, last.value);
    this.#empty();
    this.#lowerLoan();
    this.#settle().resolve?.(DONE);
  }

  #finish(): void {
    this.#state = ENDED;
    this.#unhook?.();
    this.#unhook = undefined;
    this.#lowerLoan();
  }

  #settle(): { resolve: ((step: ReplyStep) => void) | undefined; reject: ((fault: Fault) => void) | undefined } {
    const waiting = { resolve: this.#resolve, reject: this.#reject };
    this.#resolve = this.#reject = undefined;
    return waiting;
  }

  #shift(): Reply {
    const weight = this.#weights[this.#read] ?? 0;
    const reply = this.#queue[this.#read++] as Reply;
    this.#bytes -= weight;
    if (this.#read === this.#queue.length) this.#empty();
    else if (this.#read >= COMPACT && this.#read * 2 > this.#queue.length) this.#compact();
    this.#lowerLoan();
    if (this.#held && this.#bytes < this.#enough / 2) this.#caller.pace(this, (this.#held = false));
    if (this.#caller.counts) this.#account(reply, weight);
    return reply;
  }

  /** Waiting bytes from which the call's stream is paused. Only a read needs many to make full use of a slow link. */
  get #enough(): number {
    const most = this.#room / 4;
    return this.request.method === "resources/read" ? most : Math.min(most, WINDOW_BYTES);
  }

  #empty(): void {
    this.#queue = [];
    this.#weights = NONE;
    this.#read = this.#bytes = 0;
  }

  /** When the call is over, only what waits for the reader still counts. */
  #lowerLoan(): void {
    if (this.#state !== OPEN) this.#loan?.lower(this.#bytes);
  }

  /** Removes the replies that were read: if the reader is always a little behind, the queue never becomes empty. */
  #compact(): void {
    this.#queue = this.#queue.slice(this.#read);
    this.#weights = this.#weights.slice(this.#read);
    this.#read = 0;
  }

  #account(reply: Reply, weight: number): void {
    if (reply.kind !== "ask" && reply.kind !== "result") this.#caller.consumed(this, weight);
  }
}

/** A result has no weight: it is the last reply, and the limit of one message has already let it through. */
function weighReply(reply: Reply): number {
  switch (reply.kind) {
    case "result":
      return 0;
    case "ask":
      return weigh(reply.ask.request.params);
    case "item":
    case "page":
    case "content":
    case "chunk":
      return weighPart(reply);
    default:
      return weigh(reply.params);
  }
}
