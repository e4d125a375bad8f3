import type { Id, Incoming, IncomingPart, Outgoing, Part } from "../codec/index.js";
import type { Fault } from "../core/index.js";

/** A duplex of JSON-RPC messages between two peers, in order. */
export interface Link {
  /** What the peer sent, in batches as they arrived; ends when the peer closed, throws the Fault that broke the link. One reader. */
  readonly incoming: AsyncIterable<readonly (Incoming | IncomingPart)[]>;
  /** Whether both ends share a memory: between Anywire ends octets then pass as they are, without base64. */
  readonly octets?: boolean;
  /**
   * Takes a message and resolves once there is room for the next; rejects with the close reason. Order is kept.
   * `call` is the id of the peer's request that a notification or request belongs to, for links that have a stream for each.
   * `deadline` of a request, in epoch milliseconds, for links that can tell the peer.
   */
  send(message: Outgoing, call?: Id, deadline?: number): Promise<void>;
  /**
   * Whether answers travel piece by piece: lists as items, resources as contents and chunks, with no pages, no ranges and no base64,
   * until their result.
   */
  readonly parts?: boolean;
  /** On such a link: takes a part of the answer to the peer's call. Undefined: there is room for the next. */
  part?(call: Id, part: Part): Promise<void> | undefined;
  /** Bytes taken and not yet on their way: what refuses new calls when a peer does not read. */
  readonly backlog: number;
  /** For links with a stream for each call: holds that stream up while its reader is behind. */
  pace?(call: Id, held: boolean): void;
  /** Where only some calls have a stream of their own: whether those of a method have. */
  apart?(method: string): boolean;
  /** Stops both directions; what was taken is written first if the peer still reads. */
  close(reason?: Fault): Promise<void>;
}
