import { type Context, Fault, type JsonObject } from "../core/index.js";
import type { AnswerPart, Id, LinkMessage, Outgoing } from "./jsonrpc.js";

/** The properties of a link. */
export interface LinkTraits {
  /** Whether each call of a method has a stream of its own. If not, it shares one stream with the other calls. */
  ownStream(method: string): boolean;
  /**
   * Whether the answers to a method travel in parts, before their result: lists as items, resources as contents and chunks. Then there are
   * no pages, ranges or base64. On the answering side it may depend on the call.
   */
  inParts(method: string, call?: AnsweredCall): boolean;
  /** Whether bytes pass unchanged, because both ends share memory. Otherwise they travel as base64. */
  readonly bytes: boolean;
}

/** A call that is being answered. */
export interface AnsweredCall {
  readonly id: Id;
  /** Whether the caller asked for parts. Then it is an Anywire end, which can continue a read that asks a question in the middle. */
  readonly asked: boolean;
}

/** What belongs to a message in addition to its content. */
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
  /** The messages of the peer, in batches as they arrived. Ends when the peer closed; throws the Fault that broke the link. One reader. */
  readonly incoming: AsyncIterable<readonly LinkMessage[]>;
  /** Takes a message. Resolves once there is room for the next; rejects with the close reason. Order is kept. */
  send(message: Outgoing, options?: SendOptions): Promise<void>;
  /** Takes a part of the answer to the peer's call, if the traits say that it travels in parts. Undefined: there is room for the next. */
  part(call: Id, part: AnswerPart): Promise<void> | undefined;
  /** Bytes that were taken and not sent yet. New calls are refused when a peer does not read and this grows too large. */
  readonly backlog: number;
  /** Pauses the stream of a call while its reader is behind, if the call has a stream of its own. */
  pace(call: Id, held: boolean): void;
  /**
   * What a legacy server says about itself now, in the form of the result of `initialize`. Only links have it that cannot tell when their
   * server is replaced. Undefined: nothing new.
   */
  refresh?(): Promise<JsonObject | undefined>;
  /** Stops both directions. What was taken is written first if the peer still reads. */
  close(reason?: Fault): Promise<void>;
}

/** What `send` may return if there is room at once. The caller need not wait for it, nor handle a rejection. */
export const hasRoom: Promise<void> = Promise.resolve();

/** The common properties of most links: all calls share one stream of whole JSON messages, and parts are notifications. */
export const sharedStream: Pick<Link, "traits" | "part" | "pace"> = {
  traits: { ownStream: () => false, inParts: () => false, bytes: false },
  part() {
    throw new Fault("internal", "this link carries whole messages only");
  },
  pace() {},
};
