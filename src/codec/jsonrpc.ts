import type { ChunkReply, ContentReply, Context, Fault, ItemReply, JsonObject, PageReply, RpcError } from "../core/index.js";

/** A JSON-RPC id keeps its type: 1 and "1" are two ids. */
export type Id = string | number;

/** A message that a peer sent, by type. Members that JSON-RPC does not name are the `envelopeMembers` of the params, result or error. */
export interface IncomingRequest {
  readonly kind: "request";
  readonly id: Id;
  readonly method: string;
  readonly params: JsonObject;
  /** The receiver's own call on whose stream it came, if calls have streams of their own. */
  readonly call?: Id;
  /** The headers that it came with, if each request has its own. */
  readonly metadata?: Context["metadata"];
}
export interface IncomingNotification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: JsonObject;
  /** As in a request. */
  readonly call?: Id;
}
export interface IncomingResult {
  readonly kind: "result";
  readonly id: Id;
  readonly value: JsonObject;
  /** The characters that it was read from, if they are many: then it need not be weighed. */
  readonly size?: number;
}
export interface IncomingError {
  readonly kind: "error";
  /** Absent if the peer could not read the id of the message it refuses. */
  readonly id?: Id;
  readonly error: RpcError;
}
/** A message that is not valid. `id` is that of a request, if one could be read and an answer is due. */
export interface IncomingBad {
  readonly kind: "bad";
  readonly id?: Id;
  /**
   * The id of our call that it was meant to answer. That call has to fail with this fault instead of waiting for ever. If `id` is set too,
   * it is not known whether this was a request or an answer: fail such a call if there is one, otherwise send an answer.
   */
  readonly answers?: Id;
  /** It has no id and certainly was not a request: nobody expects an answer, not even an error. */
  readonly silent?: true;
  /** The call has failed, but nothing is wrong with what the peer sent: only the caller is told. */
  readonly failed?: true;
  readonly fault: Fault;
}
/** Only 2025-03-26 has batches; the edge decides whether its peer may send one. */
export interface IncomingBatch {
  readonly kind: "batch";
  readonly messages: readonly IncomingSingle[];
}
/** A message that is not a batch. */
export type IncomingSingle = IncomingRequest | IncomingNotification | IncomingResult | IncomingError | IncomingBad;
export type Incoming = IncomingSingle | IncomingBatch;

/** The parts of an answer that a link carries piece by piece, before its result. */
export type AnswerPart = ItemReply | PageReply | ContentReply | ChunkReply;
/** A part of the answer to the receiver's call with that id. */
export interface IncomingPart {
  readonly kind: "part";
  readonly id: Id;
  readonly part: AnswerPart;
}
/** What a link brings. */
export type LinkMessage = Incoming | IncomingPart;
/** What a link brings, without batches. */
export type UnbatchedMessage = IncomingSingle | IncomingPart;

export interface OutgoingRequest {
  readonly jsonrpc: "2.0";
  readonly id: Id;
  readonly method: string;
  readonly params?: JsonObject;
}
export interface OutgoingNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: JsonObject;
  /** Base64 that is written as one more member of the params. It was made here, so nothing in it needs to be escaped. */
  readonly blob?: string;
}
export interface OutgoingResult {
  readonly jsonrpc: "2.0";
  readonly id: Id;
  readonly result: JsonObject;
}
export interface OutgoingError {
  readonly jsonrpc: "2.0";
  /** null if the id of the refused message could not be read. */
  readonly id: Id | null;
  readonly error: RpcError;
  /** The fault of the error, for wires with statuses of their own. It is not written. */
  readonly fault?: Fault;
}
export type OutgoingMessage = OutgoingRequest | OutgoingNotification | OutgoingResult | OutgoingError;
/** One message, or the answers to a batch. */
export type Outgoing = OutgoingMessage | readonly OutgoingMessage[];
