import type { ChunkReply, ContentReply, Context, Fault, ItemReply, JsonObject, PageReply, RpcError } from "../core/index.js";

/** A JSON-RPC id keeps its type: 1 and "1" are two ids. */
export type Id = string | number;

/** What a peer sent, typed apart. Members that JSON-RPC does not name are `beside` the params, result or error. */
export interface IncomingRequest {
  readonly kind: "request";
  readonly id: Id;
  readonly method: string;
  readonly params: JsonObject;
  /** The receiver's own call on whose stream it came, where calls have streams of their own. */
  readonly call?: Id;
  /** The headers that it came with, where each request has its own. */
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
  /** Characters that it was read from, where they are many: then nobody has to weigh it. */
  readonly size?: number;
}
export interface IncomingError {
  readonly kind: "error";
  /** Absent where the peer could not read the id of what it refuses. */
  readonly id?: Id;
  readonly error: RpcError;
}
/** No message of this protocol. `id` is the request's, where one could be read and an answer is due. */
export interface IncomingBad {
  readonly kind: "bad";
  readonly id?: Id;
  /**
   * The id of the call of ours that it was to answer, which has to fail with this fault rather than wait forever. Where `id`
   * is there too, nobody can tell a request from an answer: fail such a call if there is one, and answer if there is none.
   */
  readonly answers?: Id;
  /** It names no id and surely was no request: nobody waits for an answer, not even to say what is wrong with it. */
  readonly silent?: true;
  /** The call has failed, and nothing is wrong with what the peer sent: that is for the caller alone to hear. */
  readonly failed?: true;
  readonly fault: Fault;
}
/** Only 2025-03-26 has batches; the edge decides whether its peer may send one. */
export interface IncomingBatch {
  readonly kind: "batch";
  readonly messages: readonly Exclude<Incoming, IncomingBatch>[];
}
export type Incoming = IncomingRequest | IncomingNotification | IncomingResult | IncomingError | IncomingBad | IncomingBatch;

/** What an answer is made of where a link carries it piece by piece, before its result. */
export type AnswerPart = ItemReply | PageReply | ContentReply | ChunkReply;
/** A part of the answer to the receiver's call of that id. */
export interface IncomingPart {
  readonly kind: "part";
  readonly id: Id;
  readonly part: AnswerPart;
}

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
  /** Base64 that is written as one more member of the params. It was made here, so that nothing in it needs to be escaped. */
  readonly blob?: string;
}
export interface OutgoingResult {
  readonly jsonrpc: "2.0";
  readonly id: Id;
  readonly result: JsonObject;
}
export interface OutgoingError {
  readonly jsonrpc: "2.0";
  /** null where the id of what is refused could not be read. */
  readonly id: Id | null;
  readonly error: RpcError;
  /** What it says, for wires that have statuses of their own beside the error; it is not written. */
  readonly fault?: Fault;
}
export type OutgoingMessage = OutgoingRequest | OutgoingNotification | OutgoingResult | OutgoingError;
/** One message, or the answers to a batch. */
export type Outgoing = OutgoingMessage | readonly OutgoingMessage[];
