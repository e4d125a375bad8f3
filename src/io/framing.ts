import type { LinkMessage, Outgoing } from "../codec/index.js";

/** How messages are framed in a byte stream, if not as lines of JSON. */
export interface Framing {
  /** The reader for one stream. It must not hold more than `maxBytes` of an incomplete message. */
  reader(limits: { readonly maxBytes: number; readonly depth: number }): FrameReader;
  /** The bytes of a framed message. Throws a Fault if it cannot be written. */
  write(message: Outgoing): Uint8Array;
}

export interface FrameReader {
  /** The messages that these bytes complete. A Fault that ends the stream is thrown by the first call that completes none. */
  push(bytes: Uint8Array): readonly LinkMessage[];
  /** The remaining messages at the end of the stream. Throws a Fault if the stream ended inside a message. */
  end(): readonly LinkMessage[];
}
