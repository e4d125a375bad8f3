import { type Limits, messageTooLarge } from "../../../core/index.js";

/** The message, if it may be sent. */
export function fitting(message: Uint8Array, { messageBytes }: Limits): Uint8Array {
  if (message.length > messageBytes) throw messageTooLarge(messageBytes);
  return message;
}
