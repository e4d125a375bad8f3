import { AMBIENT, type Ask, type DeadlineReplies, type Layer, type Replies, type Reply, withDeadline } from "../core/index.js";

/**
 * Gives every call a time limit. The limit is paused while the call waits for the answer to a question, which a person may have to give.
 */
export function timeLimit(ms: number): Layer {
  return (inner) => ({
    call(request, context) {
      const replies = inner.call(request, context);
      // These last as long as somebody listens.
      if (request.method === AMBIENT || request.method === "subscriptions/listen") return replies;
      return limited(withDeadline(replies, Date.now() + ms));
    },
    notify: (notification, context) => inner.notify(notification, context),
  });
}

function limited(inner: DeadlineReplies): Replies {
  let open = 0;
  const asked = (ask: Ask): Ask => {
    if (++open === 1) inner.pause();
    let settled = false;
    const settle = (): void => {
      if (!settled && --open === 0) inner.resume();
      settled = true;
    };
    ask.cancel.on(settle);
    return {
      ...ask,
      answer: (result) => {
        settle();
        ask.answer(result);
      },
      refuse: (fault) => {
        settle();
        ask.refuse(fault);
      },
    };
  };
  const seen = (step: IteratorResult<Reply, undefined>): IteratorResult<Reply, undefined> =>
    step.done !== true && step.value.kind === "ask" ? { done: false, value: { kind: "ask", ask: asked(step.value.ask) } } : step;
  const replies: Replies = {
    next: () => inner.next().then(seen),
    return: () => inner.return(),
    [Symbol.asyncIterator]: () => replies,
  };
  return replies;
}
