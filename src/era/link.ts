import type { Incoming, Outgoing } from "../codec/index.js";
import type { Fault } from "../core/index.js";

/** A duplex of JSON-RPC messages between two peers, in order. */
export interface Link {
  /** What the peer sent, in batches as they arrived; ends when the peer closed, throws the Fault that broke the link. One reader. */
  readonly incoming: AsyncIterable<readonly Incoming[]>;
  /** Takes a message and resolves once there is room for the next; rejects with the close reason. Order is kept. */
  send(message: Outgoing): Promise<void>;
  /** Bytes taken and not yet on their way: what refuses new calls when a peer does not read. */
  readonly backlog: number;
  /** Stops both directions; what was taken is written first if the peer still reads. */
  close(reason?: Fault): Promise<void>;
}
