import { type Limits, messageTooLarge } from "../../../core/index.js";

/** Returns the message. Throws if it is too large to send. */
export function fitting(message: Uint8Array, { messageBytes }: Limits): Uint8Array {
  if (message.length > messageBytes) throw messageTooLarge(messageBytes);
  return message;
}
