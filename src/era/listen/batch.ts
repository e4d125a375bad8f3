import type { OutgoingMessage } from "../../codec/index.js";
import type { Respond } from "./calls.js";

/** Collects the answers to the `count` requests of one batch, and sends them together. */
export function collectBatch(count: number, send: (answers: readonly OutgoingMessage[]) => Promise<void>): Respond {
  const answers: OutgoingMessage[] = [];
  let open = count;
  return (message) => {
    if (message !== undefined) answers.push(message);
    return --open > 0 || answers.length === 0 ? Promise.resolve() : send(answers);
  };
}
