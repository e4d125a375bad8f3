import { type Context, Fault } from "../core/index.js";
import type { AnswerPart, Id, Incoming, IncomingPart, Outgoing } from "./jsonrpc.js";

/** What a link is. It says so once, and nobody has to find out. */
export interface LinkTraits {
  /** Whether each call of a method has a stream of its own. If not, it shares one stream with the other calls. */
  ownStream(method: string): boolean;
  /**
   * Whether the answers to a method travel in parts, until their result: lists as items, resources as contents and chunks. There are no
   * pages, no ranges and no base64 then. Where answers are written, it may depend on the call.
   */
  inParts(method: string, call?: AnsweredCall): boolean;
  /** Whether bytes pass as they are, because both ends share a memory. If not, they travel as base64. */
  readonly bytes: boolean;
}

/** A call that is to be answered. */
export interface AnsweredCall {
  readonly id: Id;
  /** Whether its caller asked for parts: an Anywire end, which goes on with a read that asks in its middle. */
  readonly asked: boolean;
}

/** What belongs to a message, beside the message itself. */
export interface SendOptions {
  /** The id of the peer's request that a notification or request belongs to, for links with a stream for each call. */
  readonly call?: Id | undefined;
  /** When the caller stops waiting, in epoch milliseconds, for links that can tell the peer. */
  readonly deadline?: number | undefined;
  /** Headers of a request, for links that have headers for each call. */
  readonly metadata?: Context["metadata"] | undefined;
}

/** A duplex of JSON-RPC messages between two peers, in order. */
export interface Link {
  readonly traits: LinkTraits;
  /** What the peer sent, in batches as they arrived; ends when the peer closed, throws the Fault that broke the link. One reader. */
  readonly incoming: AsyncIterable<readonly (Incoming | IncomingPart)[]>;
  /** Takes a message and resolves once there is room for the next; rejects with the close reason. Order is kept. */
  send(message: Outgoing, options?: SendOptions): Promise<void>;
  /** Takes a part of the answer to the peer's call, where the traits say that it travels so. Undefined: there is room for the next. */
  part(call: Id, part: AnswerPart): Promise<void> | undefined;
  /** Bytes taken and not yet on their way: what refuses new calls when a peer does not read. */
  readonly backlog: number;
  /** Holds up the stream of a call while its reader is behind, where the call has one of its own. */
  pace(call: Id, held: boolean): void;
  /** Stops both directions; what was taken is written first if the peer still reads. */
  close(reason?: Fault): Promise<void>;
}

/** What `send` may return where there is room at once. Whoever is given it need not wait, nor watch out for a fault. */
export const hasRoom: Promise<void> = Promise.resolve();

/** What most links have in common: all calls share one stream of whole JSON messages. Parts are notifications there. */
export const sharedStream: Pick<Link, "traits" | "part" | "pace"> = {
  traits: { ownStream: () => false, inParts: () => false, bytes: false },
  part() {
    throw new Fault("internal", "this link carries whole messages only");
  },
  pace() {},
};
