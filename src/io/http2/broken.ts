import { Fault } from "../../core/index.js";

/** The fault of a peer that violated HTTP/2, with the error code to send it. */
export function broken(http2: number, message: string): Fault {
  return new Fault("unavailable", message, { data: { reason: "http2", http2 } });
}
