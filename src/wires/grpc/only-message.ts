import { Fault } from "../../core/index.js";
import type { ServerCall } from "../../io/index.js";

/** The one message of a unary call. */
export async function onlyMessage(call: ServerCall): Promise<Uint8Array> {
  // Not by a loop that is left: that would end the call, which has not been answered.
  const messages = call.messages[Symbol.asyncIterator]();
  for (;;) {
    const step = await messages.next();
    if (step.done === true) throw new Fault("invalid-request", "the call came without its message");
    const [first] = step.value;
    if (step.value.length > 1) throw new Fault("invalid-request", "the call takes one message");
    if (first !== undefined) return first;
  }
}
