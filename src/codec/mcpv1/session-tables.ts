import type { Table } from "../protobuf/index.js";
import { mcpv1Table } from "./dialect.js";

/** A payload of a session: its number and its message. */
export interface SessionPayload {
  readonly number: number;
  readonly table: Table;
}

const payload = (number: number, name: string): SessionPayload => ({ number, table: mcpv1Table(name) });

/** Internal methods for what `mcp.v1` has and the protocol lacks. They never reach another wire. */
export const WATCH = "dev.anywire/watch-resources";
export const PROMPT_COMPLETION = "dev.anywire/stream-prompt-completion";
/** Their notifications, one for each message. */
export const WATCHED = "notifications/dev.anywire/resource-changed";
export const COMPLETED = "notifications/dev.anywire/completion-chunk";
/** The key of `_meta` that makes a read chunked. */
export const CHUNKED = "dev.anywire/chunked";
export const WINDOW_KEY = "dev.anywire/window";
export const CREDIT = "notifications/dev.anywire/credit";
export const CANCELLED_METHOD = "notifications/cancelled";
export const PROGRESS = "notifications/progress";

export const READ_CHUNKED: SessionPayload = payload(21, "ReadResourceChunkedRequest");

/** Requests with a message of their own, by method. */
export const requestPayloads: ReadonlyMap<string, SessionPayload> = new Map([
  ["initialize", payload(10, "InitializeRequest")],
  ["ping", payload(11, "PingRequest")],
  ["tools/list", payload(12, "ListToolsRequest")],
  ["tools/call", payload(13, "CallToolRequest")],
  ["resources/list", payload(14, "ListResourcesRequest")],
  ["resources/read", payload(15, "ReadResourceRequest")],
  [WATCH, payload(16, "WatchResourcesRequest")],
  ["prompts/list", payload(17, "ListPromptsRequest")],
  ["prompts/get", payload(18, "GetPromptRequest")],
  ["completion/complete", payload(19, "CompleteRequest")],
  ["resources/templates/list", payload(20, "ListResourceTemplatesRequest")],
  [PROMPT_COMPLETION, payload(22, "StreamPromptCompletionRequest")],
]);

/** A client's notifications with a message of their own. */
export const notificationPayloads: ReadonlyMap<string, SessionPayload> = new Map([
  [CANCELLED_METHOD, payload(70, "CancelRequest")],
  [CREDIT, payload(71, "Credit")],
]);

/** Results with a message of their own, by the method they answer. */
export const resultPayloads: ReadonlyMap<string, SessionPayload> = new Map([
  ["initialize", payload(10, "InitializeResponse")],
  ["ping", payload(11, "PingResponse")],
  ["tools/call", payload(13, "CallToolResponse")],
  ["resources/read", payload(15, "ReadResourceResponse")],
  ["prompts/get", payload(17, "GetPromptResponse")],
  ["completion/complete", payload(18, "CompleteResponse")],
]);

/** A list's items, by its method. */
export const itemPayloads: ReadonlyMap<string, number> = new Map([
  ["tools/list", 12],
  ["resources/list", 14],
  ["prompts/list", 16],
  ["resources/templates/list", 19],
]);

/** Notifications of a server that belong to one call, named in `requestId`. */
export const callPayloads: ReadonlyMap<string, SessionPayload> = new Map([
  [WATCHED, payload(51, "WatchResourcesResponse")],
  [COMPLETED, payload(53, "StreamPromptCompletionResponse")],
]);

export const RESOURCE_CHUNK = 50;
export const STREAM_END = 55;
export const GENERIC = 80;
export const PROGRESS_PAYLOAD: SessionPayload = payload(52, "ProgressNotification");
export const ERROR_PAYLOAD: SessionPayload = payload(60, "ErrorResponse");
export const STREAM_ERROR: SessionPayload = payload(61, "StreamError");

/** Methods that are answered by a stream, whose errors are `stream_error`. */
export const streamed: ReadonlySet<string> = new Set([...itemPayloads.keys(), WATCH, PROMPT_COMPLETION]);

/** A payload and its meaning for the receiver. */
export interface KnownPayload {
  readonly name: string;
  readonly table: Table;
}

function inverse(...maps: readonly ReadonlyMap<string, SessionPayload>[]): ReadonlyMap<number, KnownPayload> {
  return new Map(maps.flatMap((map) => [...map].map(([name, { number, table }]) => [number, { name, table }] as const)));
}

export const requestPayloadsByNumber: ReadonlyMap<number, KnownPayload> = new Map([
  ...inverse(requestPayloads),
  [READ_CHUNKED.number, { name: "resources/read", table: READ_CHUNKED.table }] as const,
]);
export const notificationPayloadsByNumber: ReadonlyMap<number, KnownPayload> = inverse(notificationPayloads);
export const resultPayloadsByNumber: ReadonlyMap<number, KnownPayload> = inverse(resultPayloads);
export const callsByNumber: ReadonlyMap<number, KnownPayload> = inverse(callPayloads);
export const itemsByNumber: ReadonlyMap<number, string> = new Map([...itemPayloads].map(([method, number]) => [number, method]));
