import type { Cancel } from "./cancel.js";
import type { Fault } from "./fault.js";
import type { Identity } from "./identity.js";
import type { JsonObject } from "./json.js";

/** Legacy is any revision up to 2025-11-25, with `initialize` and sessions; modern is 2026-07-28, stateless. */
export type Era = "legacy" | "modern";

/** A method and its parameters in the shape of the newest revision. Members that an edge does not know travel unchanged. */
export interface Message {
  readonly method: string;
  readonly params: JsonObject;
}
export type Request = Message;

/** The narrow waist: a request goes in, a stream of replies comes out, the last of which is its result. */
export interface Service {
  /** Makes a call. Nothing is sent or run before the first next(); never throws. */
  call(request: Request, context: Context): Replies;
  /** Passes on a client's notification that belongs to no call. Resolves when the link has taken it. */
  notify(notification: Message, context: Context): Promise<void>;
}

/** A service around a service. A layer that only reads requests returns the inner Replies. */
export type Layer = (inner: Service) => Service;

/** What `next()` of a call's replies gives: a reply, or the end. */
export type ReplyStep = IteratorResult<Reply, undefined>;

/** One call's replies: one reader, one next() at a time. */
export interface Replies extends AsyncIterable<Reply> {
  /** Ends after the result, or rejects once with a Fault. */
  next(): Promise<ReplyStep>;
  /** Gives up, also during a pending next(); a no-op after the result. */
  return(): Promise<ReplyStep>;
  [Symbol.asyncIterator](): Replies;
}

/** One element of a list. `paged`: it came in an upstream page, whose end follows. A cursor edge does not cut before that. */
export interface ItemReply {
  readonly kind: "item";
  readonly value: JsonObject;
  readonly paged?: true;
  /** About how many bytes of JSON it has, if known. */
  readonly weight?: number;
}
/** The end of a page: its cursor ("" is valid) and its other members. `own`: an upstream boundary, where a cursor edge always cuts. */
export interface PageReply {
  readonly kind: "page";
  readonly cursor: string;
  readonly rest: JsonObject;
  readonly own: boolean;
}
/** A resource content begins. `offset` says where in the resource the first chunk starts, `size` the whole, if known. */
export interface ContentReply {
  readonly kind: "content";
  readonly form: "text" | "blob" | "none";
  readonly head: JsonObject;
  readonly offset?: number;
  readonly size?: number;
}
/** More of the content: whole code points, or bytes. */
export interface ChunkReply {
  readonly kind: "chunk";
  readonly data: string | Uint8Array;
}
/** Progress of the call, without its token. */
export interface ProgressReply {
  readonly kind: "progress";
  readonly params: JsonObject;
}
/** A log entry. `ambient`: the sender named no call. */
export interface LogReply {
  readonly kind: "log";
  readonly params: JsonObject;
  readonly ambient?: true;
}
/** Any other notification: an acknowledgement, a change, a vendor's own. */
export interface NoteReply {
  readonly kind: "note";
  readonly method: string;
  readonly params: JsonObject;
}
/** The server asks something. Keep reading while the ask is open. */
export interface AskReply {
  readonly kind: "ask";
  readonly ask: Ask;
}
/** The end, without the members that were already sent as items or contents. */
export interface ResultReply {
  readonly kind: "result";
  readonly value: JsonObject;
  /** About how many bytes of JSON it has, if known. */
  readonly weight?: number;
}

export type Reply = ItemReply | PageReply | ContentReply | ChunkReply | ProgressReply | LogReply | NoteReply | AskReply | ResultReply;

/** A question of the server to the client in the middle of a call. */
export interface Ask {
  readonly key: string;
  readonly request: Request;
  /** How its call was found: the wire named it, it was the only one open, or it is a guess. */
  readonly origin: "stated" | "sole" | "guessed";
  /** Fires when no answer is wanted any more. */
  readonly cancel: Cancel;
  /** The first of answer and refuse counts. */
  answer(result: JsonObject): void;
  refuse(fault: Fault): void;
  /** Tells the asker how far the answer has come. Does nothing if the asker did not want progress. */
  progress(params: JsonObject): void;
  /** Whether the asker wants progress. */
  readonly wantsProgress: boolean;
}

/** What a caller said about itself: in this request in the modern era, in its session in the legacy era. */
export interface Client {
  /** Who it is. */
  readonly identity: Identity;
  readonly era: Era;
  readonly protocolVersion: string;
  readonly info?: JsonObject;
  readonly capabilities: JsonObject;
}

export interface Range {
  readonly offset: number;
  readonly chunkSize?: number;
}

export interface Context {
  readonly client: Client;
  readonly cancel: Cancel;
  /** Epoch milliseconds. Enforced once, where the call enters, with one timer that is paused while the call is parked. */
  readonly deadline?: number;
  /** Whether the caller wants progress. */
  readonly progress: boolean;
  readonly logLevel?: string;
  /** traceparent, tracestate, baggage. */
  readonly trace?: Readonly<Record<string, string>>;
  readonly pageSize?: number;
  /** The caller takes one page of a list, and asks for the next by its cursor: what streams a list stops where an upstream page ends. */
  readonly onePage?: boolean;
  /** For reads; content.offset says what was done. */
  readonly range?: Range;
  /** Headers, in lower case. Only those that a caller of this library gave are sent upstream. */
  readonly metadata: Readonly<Record<string, string | readonly string[]>>;
}

/** The long-lived call that brings a legacy client what belongs to none of its calls. It crosses a wire only between Anywire ends. */
export const AMBIENT = "dev.anywire/ambient";

/** Wraps a service in layers: the first is the outermost. */
export function layered(service: Service, ...layers: readonly Layer[]): Service {
  return layers.reduceRight((inner, layer) => layer(inner), service);
}
