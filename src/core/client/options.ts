import type { Fault } from "../fault.js";
import type { JsonObject } from "../json.js";
import type { LogLevel } from "../methods.js";
import type { ElicitParams, ElicitResult, Implementation, Root, SampleParams, SampleResult } from "../protocol.js";
import type { Message, Request } from "../service.js";

export interface Progress extends JsonObject {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface LogEntry extends JsonObject {
  readonly level: LogLevel;
  readonly logger?: string;
  readonly data?: unknown;
}

export interface AskContext {
  /** Aborts when the server wants no answer any more; a late answer is dropped. */
  readonly signal: AbortSignal;
  /** Tells the server how the answer is coming on, if it wants to know. */
  progress(progress: number, total?: number, message?: string): void;
}

export type AskHandler<P extends JsonObject = JsonObject, R extends JsonObject = JsonObject> = (
  params: P,
  context: AskContext,
) => R | Promise<R>;

/** Which handlers exist decides which capabilities the client declares. */
export interface ClientOptions {
  /** Who calls; `anywire` and its version unless said otherwise. */
  readonly info?: Implementation | undefined;
  readonly elicit?: AskHandler<ElicitParams, ElicitResult> | undefined;
  /** `elicit` also takes `mode: "url"`. */
  readonly elicitUrl?: boolean | undefined;
  readonly sample?: AskHandler<SampleParams, SampleResult> | undefined;
  /** `sample` also takes `tools`. */
  readonly sampleTools?: boolean | undefined;
  readonly roots?: readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>) | undefined;
  /** Handlers of questions that the specification does not name, by method. */
  readonly asks?: Readonly<Record<string, AskHandler>> | undefined;
  /** Declared besides: `experimental`, `extensions`. */
  readonly capabilities?: JsonObject | undefined;
  /** Log entries of calls without an `onLog` of their own, and of no call. */
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  /** Progress of calls without an `onProgress` of their own. */
  readonly onProgress?: ((progress: Progress, request: Request) => void) | undefined;
  /** Every other notification that is not an event of a stream being read. */
  readonly onNotification?: ((notification: Message) => void) | undefined;
  /** What went wrong outside any call: a hook or a handler that threw, the loss of the background call. */
  readonly onFault?: ((fault: Fault) => void) | undefined;
  /** Asked of every call; `info` where an `onLog` listens and no level was set. */
  readonly logLevel?: LogLevel | undefined;
  /** Milliseconds a call may take; it stands still while handlers answer. None unless set. */
  readonly timeout?: number | undefined;
  /** How many times a server may ask for input before one result; 16 unless set. */
  readonly maxRounds?: number | undefined;
  /** Bytes that one collected list or whole read may come to; 64 MiB unless set. Streams have no such limit. */
  readonly collectBytes?: number | undefined;
  /** Result types of extensions that typed calls may return besides `complete`. */
  readonly resultTypes?: readonly string[] | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; instead of the client's. */
  readonly timeout?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  readonly logLevel?: LogLevel | undefined;
  /** Goes out as the request's `_meta`. */
  readonly meta?: JsonObject | undefined;
  /** traceparent, tracestate, baggage. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
  /** Headers, lower case, on wires that have them. */
  readonly metadata?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

export interface ListOptions extends CallOptions {
  /** Items a page, where the wire pages and the server lets the client choose. */
  readonly pageSize?: number | undefined;
}
