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
  /** Aborts when the server no longer wants an answer. A late answer is dropped. */
  readonly signal: AbortSignal;
  /** Tells the server how far the answer has come, if it wants to know. */
  progress(progress: number, total?: number, message?: string): void;
}

export type AskHandler<P extends JsonObject = JsonObject, R extends JsonObject = JsonObject> = (
  params: P,
  context: AskContext,
) => R | Promise<R>;

/** The client declares the capabilities that its handlers amount to. */
export interface ClientOptions {
  /** The client's name and version; those of `anywire` unless given. */
  readonly info?: Implementation | undefined;
  readonly elicit?: AskHandler<ElicitParams, ElicitResult> | undefined;
  /** Whether `elicit` also handles `mode: "url"`. */
  readonly elicitUrl?: boolean | undefined;
  readonly sample?: AskHandler<SampleParams, SampleResult> | undefined;
  /** Whether `sample` also handles `tools`. */
  readonly sampleTools?: boolean | undefined;
  readonly roots?: readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>) | undefined;
  /** Handlers for questions that the specification does not name, by method. */
  readonly asks?: Readonly<Record<string, AskHandler>> | undefined;
  /** Capabilities to declare in addition: `experimental`, `extensions`. */
  readonly capabilities?: JsonObject | undefined;
  /** Log entries outside any call, and of calls without an `onLog` of their own. */
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  /** Progress of calls without an `onProgress` of their own. */
  readonly onProgress?: ((progress: Progress, request: Request) => void) | undefined;
  /** Every other notification, except the events of a stream that is being read. */
  readonly onNotification?: ((notification: Message) => void) | undefined;
  /** What went wrong outside any call: a hook or a handler that threw, the loss of the background call. */
  readonly onFault?: ((fault: Fault) => void) | undefined;
  /** The level that every call asks for; `info` if there is an `onLog` and no level is set. */
  readonly logLevel?: LogLevel | undefined;
  /** Milliseconds that a call may take. The time is paused while handlers answer. No limit unless set. */
  readonly timeout?: number | undefined;
  /** How many times a server may ask for input before one result; 16 unless set. */
  readonly maxRounds?: number | undefined;
  /** Bytes that one collected list or whole read may have; 64 MiB unless set. Streams have no such limit. */
  readonly collectBytes?: number | undefined;
  /** Result types of extensions that typed calls may return in addition to `complete`. */
  readonly resultTypes?: readonly string[] | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds, in place of the client's `timeout`. */
  readonly timeout?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  readonly logLevel?: LogLevel | undefined;
  /** Sent as the request's `_meta`. */
  readonly meta?: JsonObject | undefined;
  /** traceparent, tracestate, baggage. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
  /** Headers, lower case, on wires that have them. */
  readonly metadata?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

export interface ListOptions extends CallOptions {
  /** Items in a page, where the wire has pages and the server lets the client choose. */
  readonly pageSize?: number | undefined;
  /** Whether numbers that JavaScript cannot hold are `ExactNumber`s, for `jsonText` to write. Otherwise the call fails at the first. */
  readonly exactNumbers?: boolean | undefined;
}
