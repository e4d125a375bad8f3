import { checkNumbers, isObject, type JsonObject } from "../../core/index.js";
import type { AnswerPart } from "../jsonrpc.js";
import {
  bytesOf,
  type DecodeLimits,
  defaultDecodeLimits,
  type EncodeOptions,
  malformed,
  Reader,
  readMessage,
  writeMessage,
} from "../protobuf/index.js";
import { answerForBase, errorForBase, requestForBase } from "./base.js";
import { isForBase } from "./base-parts.js";
import { mcpv1Table } from "./dialect.js";
import { isListMethod, type RestPart } from "./items.js";
import { type PartState, partState, readChunkParts, readListPart, writeChunkHead, writeChunkPart, writeListPart } from "./parts.js";

/** Messages that stand for an MCP object. */
export type MessageName =
  | "InitializeRequest"
  | "InitializeResponse"
  | "PingRequest"
  | "PingResponse"
  | "Tool"
  | "ListToolsRequest"
  | "CallToolRequest"
  | "CallToolResponse"
  | "ToolResult"
  | "CallToolWithProgressRequest"
  | "CallToolWithProgressResponse"
  | "StreamToolCallsRequest"
  | "StreamToolCallsResponse"
  | "ProgressNotification"
  | "StreamError"
  | "ErrorResponse"
  | "Resource"
  | "ListResourcesRequest"
  | "ResourceTemplate"
  | "ListResourceTemplatesRequest"
  | "ReadResourceRequest"
  | "ReadResourceResponse"
  | "ReadResourceChunkedRequest"
  | "WatchResourcesRequest"
  | "WatchResourcesResponse"
  | "Prompt"
  | "ListPromptsRequest"
  | "GetPromptRequest"
  | "GetPromptResponse"
  | "StreamPromptCompletionRequest"
  | "StreamPromptCompletionResponse"
  | "CompleteRequest"
  | "CompleteResponse";

/** request_id of StreamToolCallsRequest. It is not one of the params. */
const REQUEST_ID = 0x0a;

/** The bytes of a message. A StreamToolCallsRequest is `{ requestId, params }`. */
export function encodeMessage(name: MessageName, value: JsonObject, options: EncodeOptions): Uint8Array {
  if (!options.twin) checkNumbers(value, name.endsWith("Request") ? "params" : "result");
  const table = mcpv1Table(name);
  const said = options.base === true ? forBase(name, value) : value;
  return bytesOf((writer) => {
    if (name !== "StreamToolCallsRequest") writeMessage(writer, table, said, options);
    else {
      writer.varint(REQUEST_ID);
      if (!writer.text(String(value["requestId"]))) throw malformed("requestId is no text");
      writeMessage(writer, table, isObject(value["params"]) ? value["params"] : {}, options);
    }
  });
}

/** Messages whose members are a result, an error or a notification. */
const wrappers: ReadonlySet<string> = new Set(["CallToolWithProgressResponse", "StreamToolCallsResponse"]);

function forBase(name: MessageName, value: JsonObject): JsonObject {
  if (name.endsWith("Request")) return requestForBase(mcpv1Table(name), value);
  const { error } = value;
  const told = isObject(error) ? { ...value, error: errorForBase(error) } : value;
  return answerForBase(mcpv1Table(name), told, wrappers.has(name) ? "" : "result");
}

/** The object that a message stands for. Throws a Fault if the bytes are not such a message. */
export function decodeMessage(name: MessageName, bytes: Uint8Array, limits: DecodeLimits = defaultDecodeLimits): JsonObject {
  const reader = new Reader(bytes);
  // These are one level below the JSON message. For a wrapper, whose members are the result or the error, they are the message itself.
  const value = readMessage(reader, mcpv1Table(name), limits.depth - (wrappers.has(name) ? 1 : 2));
  return name === "StreamToolCallsRequest" ? { requestId: requestIdOf(bytes), params: value } : value;
}

function requestIdOf(bytes: Uint8Array): string {
  const reader = new Reader(bytes);
  let id = "";
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === REQUEST_ID) id = reader.text();
    else reader.skip(tag);
  }
  return id;
}

/** The start of a ReadResourceChunkedResponse, before the `bytes` bytes of its chunk. */
export function encodeChunkMessageHead(bytes: number, state?: PartState): Uint8Array {
  return bytesOf((writer) => {
    writeChunkHead(writer, bytes, state);
  });
}

/** A message of a list or of a chunked read. With the `state` of the call, chunks say where they start, as some peers need it. */
export function encodePartMessage(method: string, part: AnswerPart | RestPart, options: EncodeOptions, state?: PartState): Uint8Array {
  if (!options.twin) checkNumbers(part, part.kind);
  return bytesOf((writer) => {
    if (isListMethod(method)) writeListPart(writer, method, part, options);
    else writeChunkPart(writer, part, options, state);
  });
}

/** The parts in a message of a list or of a chunked read. A message of a read may have several, any message may have none. */
export function decodePartMessage(
  method: string,
  bytes: Uint8Array,
  state: PartState = partState(),
  limits: DecodeLimits = defaultDecodeLimits,
): readonly (AnswerPart | RestPart)[] {
  const reader = new Reader(bytes);
  if (!isListMethod(method)) return readChunkParts(reader, limits.depth - 1, state);
  const part = readListPart(reader, method, limits.depth - 1);
  return part === undefined ? [] : [part];
}

/**
 * The last message of a list or of a chunked read: the result's members other than those that were streamed. Undefined if there is nothing
 * to send. A chunked read always sends its end.
 */
export function encodeRest(method: string, rest: JsonObject, options: EncodeOptions, state?: PartState): Uint8Array | undefined {
  const part: RestPart = { kind: "rest", value: rest };
  if (options.base === true && !isForBase(method, part)) return undefined;
  if (isListMethod(method) && Object.keys(rest).length === 0) return undefined;
  return encodePartMessage(method, part, options, state);
}
