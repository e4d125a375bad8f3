import { type Context, DONE, Fault, passesLevel, type Replies, type Reply, weigh } from "../../core/index.js";
import { pipe } from "../../stream/index.js";

/** The call that brings a client what belongs to none of its calls. */
export interface AmbientCall extends Replies {
  readonly context: Context;
  push(reply: Reply): void;
  fail(fault: Fault): void;
}

/** Its queue is bounded: what a reader does not take in time is dropped, because nothing waits for it. */
export function ambientCall(context: Context, bytes: number, left: () => void): AmbientCall {
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
    push(reply) {
      const { logLevel, client } = context;
      if (reply.kind === "log" && !(logLevel === undefined ? client.era === "legacy" : passesLevel(reply.params["level"], logLevel)))
        return;
      if (!queue.offer(reply) && reply.kind === "ask") reply.ask.refuse(new Fault("overload", "the client does not read its asks"));
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
