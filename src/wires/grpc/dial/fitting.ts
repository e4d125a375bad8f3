import { Fault, type Limits } from "../../../core/index.js";

/** A message that may be sent; throws for one that is larger than a message may be: the server would reset the stream of all calls over it. */
export function fitting(message: Uint8Array, { messageBytes: max }: Limits): Uint8Array {
  if (message.length <= max) return message;
  throw new Fault("overload", "the message is larger than a message may be", { data: { limit: "messageBytes", max } });
}
