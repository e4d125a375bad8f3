import { reasonOf } from "./cancel.js";
import { type Fault, toFault } from "./fault.js";
import { DONE } from "./replies.js";
import type { Context, Replies, ReplyStep, Request, Service } from "./service.js";

/** A service for the time of one call. */
export interface Lease {
  readonly service: Service;
  /** To be called when the call has ended. */
  release(): void;
}

type State =
  | { readonly tag: "idle" }
  | { readonly tag: "opening"; readonly left: () => void }
  | { readonly tag: "open"; readonly replies: Replies; readonly lease: Lease }
  | { readonly tag: "ended" };

/** A call on a service that `open` gives at the first next(). The lease is released when the call has ended. */
export function leasedReplies(open: () => Promise<Lease>, request: Request, context: Context): Replies {
  return new LeasedReplies(open, request, context);
}

class LeasedReplies implements Replies {
  readonly #open: () => Promise<Lease>;
  readonly #request: Request;
  readonly #context: Context;
  #state: State = { tag: "idle" };

  constructor(open: () => Promise<Lease>, request: Request, context: Context) {
    this.#open = open;
    this.#request = request;
    this.#context = context;
  }

  [Symbol.asyncIterator](): Replies {
    return this;
  }

  next(): Promise<ReplyStep> {
    if (this.#state.tag === "open") return this.#follow(this.#state.replies);
    if (this.#state.tag !== "idle") return Promise.resolve(DONE);
    return new Promise((resolve, reject) => this.#start(resolve, reject));
  }

  return(): Promise<ReplyStep> {
    const state = this.#state;
    this.#end();
    if (state.tag === "opening") state.left();
    return state.tag === "open" ? state.replies.return() : Promise.resolve(DONE);
  }

  #start(resolve: (step: ReplyStep | Promise<ReplyStep>) => void, reject: (fault: Fault) => void): void {
    const { cancel } = this.#context;
    this.#state = { tag: "opening", left: () => resolve(DONE) };
    const unhook = cancel.on(() => {
      this.#end();
      reject(reasonOf(cancel));
    });
    if (cancel.fired) return;
    this.#open().then(
      (lease) => {
        unhook();
        if (this.#state.tag !== "opening") return lease.release();
        const replies = lease.service.call(this.#request, this.#context);
        this.#state = { tag: "open", replies, lease };
        return resolve(this.#follow(replies));
      },
      (error) => {
        unhook();
        this.#end();
        reject(toFault(error));
      },
    );
  }

  async #follow(replies: Replies): Promise<ReplyStep> {
    try {
      const step = await replies.next();
      if (step.done === true || step.value.kind === "result") this.#end();
      return step;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  #end(): void {
    if (this.#state.tag === "open") this.#state.lease.release();
    this.#state = { tag: "ended" };
  }
}
