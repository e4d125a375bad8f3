import { type Context, DONE, type Fault, type Replies, type Reply, weigh } from "../../core/index.js";
import { pipe } from "../../stream/index.js";
import { wants } from "./wants.js";

/** The call that brings a client what belongs to none of its calls. */
export interface AmbientCall extends Replies {
  readonly context: Context;
  /** Whether changes are delivered on it too. */
  readonly changes: boolean;
  /** False if there is no room. What a reader does not take in time is dropped, because nothing waits for it. */
  push(reply: Reply): boolean;
  fail(fault: Fault): void;
}

export function ambientCall(
  context: Context,
  options: { readonly bytes: number; readonly changes: boolean },
  left: () => void,
): AmbientCall {
  const { bytes, changes } = options;
  const queue = pipe<Reply>({ bytes, items: 1024, size: (reply) => ("params" in reply ? weigh(reply.params) : 64) });
  let unhook: (() => void) | undefined;
  let ended = false;
  const end = (reason?: Fault): void => {
    if (ended) return;
    ended = true;
    unhook?.();
    left();
    if (reason === undefined) void queue.return();
    else queue.fail(reason);
  };
  unhook = context.cancel.on(() => end(context.cancel.reason));
  return {
    context,
    changes,
    push(reply) {
      // A reply that the client does not want does not count as dropped.
      return !wants(context, reply) || queue.offer(reply);
    },
    fail: (fault) => end(fault),
    async next() {
      const step = await queue.next();
      return step.done === true ? DONE : { done: false, value: step.value };
    },
    return() {
      end();
      return Promise.resolve(DONE);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
