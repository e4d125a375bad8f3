import type { Incoming, IncomingPart, Outgoing } from "../codec/index.js";

/** How messages stand in a stream of bytes, if not as lines of JSON. */
export interface Framing {
  /** Of one stream. Never more than `maxBytes` of an incomplete message may be held. */
  reader(limits: { readonly maxBytes: number; readonly depth: number }): FrameReader;
  /** The bytes of a message, with what goes around it. Throws a Fault if it cannot be written. */
  write(message: Outgoing): Uint8Array;
}

export interface FrameReader {
  /** The messages that these bytes complete. A Fault that ends the stream is thrown by the first call that completes none. */
  push(bytes: Uint8Array): readonly (Incoming | IncomingPart)[];
  /** What is left at the end of the stream; throws a Fault if that is half a message. */
  end(): readonly (Incoming | IncomingPart)[];
}
