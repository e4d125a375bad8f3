import type { OutgoingMessage } from "../../codec/index.js";
import type { Respond } from "./calls.js";

/** Keeps the answers to `count` requests of one batch until the last is there, and sends them together. */
export function collectBatch(count: number, send: (answers: readonly OutgoingMessage[]) => Promise<void>): Respond {
  const answers: OutgoingMessage[] = [];
  let open = count;
  return (message) => {
    if (message !== undefined) answers.push(message);
    return --open > 0 || answers.length === 0 ? Promise.resolve() : send(answers);
  };
}
