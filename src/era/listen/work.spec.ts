import { expect, it } from "vitest";
import { type Ask, Canceller, Fault, type Replies } from "../../core/index.js";
import { Work } from "./work.js";

it("a question that is withdrawn while others are waited for is not told: the call goes on", async () => {
  const cancel = new Canceller();
  let answer: (step: { done: true; value: undefined }) => void = () => {};
  const replies: Replies = {
    next: () => new Promise((resolve) => (answer = resolve)),
    return: async () => ({ done: true, value: undefined }),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  const work = new Work(replies);
  work.hold({ key: "a", request: { method: "roots/list", params: {} }, cancel } as unknown as Ask);
  const step = work.step();
  cancel.fire(new Fault("cancelled", "withdrawn"));
  setTimeout(() => answer({ done: true, value: undefined }), 20);
  expect(await step).toEqual({ done: true, value: undefined });
});
