import { checkNumbers, Fault, isObject, type JsonObject, toFault } from "../../core/index.js";
import type { AnswerPart, Id, IncomingPart, OutgoingMessage, OutgoingNotification, OutgoingResult, UnbatchedMessage } from "../jsonrpc.js";
import {
  bytesOf,
  type DecodeLimits,
  defaultDecodeLimits,
  type EncodeOptions,
  Reader,
  readMessage,
  type Table,
  type Writer,
  writeId,
  writeJsonField,
  writeMessage,
} from "../protobuf/index.js";
import { answerForBase, errorForBase } from "./base.js";
import { mcpv1Table } from "./dialect.js";
import { OTHERS_NUMBER } from "./fields.js";
import {
  errorOf,
  type FrameShape,
  outgoing,
  readFrame,
  readGeneric,
  type SessionFrame,
  withAnswer,
  withParams,
  writeEnvelope,
  writeGeneric,
} from "./frame.js";
import type { RestPart } from "./items.js";
import {
  type PartState,
  partState,
  readChunkParts,
  readListPart,
  readRest,
  writeChunkHead,
  writeChunkPart,
  writeListPart,
  writeRest,
} from "./parts.js";
import {
  callPayloads,
  callsByNumber,
  ERROR_PAYLOAD,
  GENERIC,
  itemPayloads,
  itemsByNumber,
  PROGRESS,
  PROGRESS_PAYLOAD,
  RESOURCE_CHUNK,
  resultPayloads,
  resultPayloadsByNumber,
  type SessionPayload,
  STREAM_END,
  STREAM_ERROR,
  streamed,
} from "./session-tables.js";

const restTable = mcpv1Table("ResultRest");
const ID = 0x0a;
const NUMERIC = 0x18;
const REPLY = 0x12;
const NUMERIC_REPLY = 0x20;

export interface ToClientOptions extends EncodeOptions {
  /** Whether the call is answered in parts, so that its end and its error are those of a stream. Lists and watches always are. */
  readonly streamed?: boolean;
  /** The call that a progress notification belongs to. Otherwise the token is the id of the call, if `method` says that there is one. */
  readonly call?: Id | undefined;
}

/**
 * Encodes a message of the server as a SessionResponse. `method` is that of the request which a result or an error answers, or of the call
 * whose id a progress token is.
 */
export function encodeToClient(given: OutgoingMessage, method: string | undefined, options: ToClientOptions): Uint8Array {
  const message = outgoing(given, options);
  return bytesOf((writer) => {
    if ("method" in message) {
      if ("id" in message) {
        const more = writeGeneric(writer, { method: message.method, params: message.params });
        writeEnvelope(writer, message, ID, NUMERIC, more);
      } else writeNotification(writer, message, method, options);
    } else {
      const inParts = options.streamed === true || (method !== undefined && streamed.has(method));
      if ("error" in message)
        writePayload(
          writer,
          inParts ? STREAM_ERROR : ERROR_PAYLOAD,
          options.base === true ? errorForBase(message.error) : message.error,
          options,
        );
      else writeResult(writer, message, method, inParts, options);
      writeEnvelope(writer, message, message.id === null ? 0 : REPLY, NUMERIC_REPLY);
    }
  });
}

function writeResult(writer: Writer, message: OutgoingResult, method: string | undefined, inParts: boolean, options: EncodeOptions): void {
  const { id } = message;
  const payload = method === undefined ? undefined : resultPayloads.get(method);
  const result = options.base === true ? resultForBase(message.result, payload) : message.result;
  if (inParts) {
    writer.varint(STREAM_END * 8 + 2);
    const from = writer.open();
    const { at } = writer;
    // Only the text of the id: its type is beside in_reply_to.
    if (!writeId(writer, ID, 0, String(id))) writer.at = at;
    if (Object.keys(result).length > 0) writeRest(writer, 2, result, options);
    writer.close(from);
  } else if (payload !== undefined && isObject(result)) writePayload(writer, payload, result, options);
  else writeGeneric(writer, { result });
}

function resultForBase(result: JsonObject, payload: SessionPayload | undefined): JsonObject {
  return answerForBase(payload?.table ?? restTable, result, "result");
}

function writePayload(writer: Writer, payload: SessionPayload, value: JsonObject, options: EncodeOptions): void {
  writer.varint(payload.number * 8 + 2);
  const from = writer.open();
  writeMessage(writer, payload.table, value, options);
  writer.close(from);
}

function writeNotification(writer: Writer, message: OutgoingNotification, method: string | undefined, options: ToClientOptions): void {
  const { params } = message;
  const call = callPayloads.get(message.method);
  let more: JsonObject | undefined;
  if (params !== undefined && params !== null && (message.method === PROGRESS || call !== undefined)) {
    const { at } = writer;
    const id = message.method === PROGRESS ? (options.call ?? params["progressToken"]) : params["requestId"];
    const replies = (call !== undefined || options.call !== undefined || method !== undefined) && writeId(writer, REPLY, NUMERIC_REPLY, id);
    if (!replies) writer.at = at;
    const forBase = (table: Table, value: JsonObject): JsonObject =>
      options.base === true ? answerForBase(table, value, "params") : value;
    if (call === undefined) writePayload(writer, PROGRESS_PAYLOAD, forBase(PROGRESS_PAYLOAD.table, params), options);
    else if (replies) {
      const { requestId: _, ...rest } = params;
      writePayload(writer, call, forBase(call.table, rest), options);
    } else more = writeGeneric(writer, { method: message.method, params, notification: true });
  } else more = writeGeneric(writer, { method: message.method, params, notification: true });
  writeEnvelope(writer, message, 0, 0, more);
}

/** The id of the call that a part belongs to. */
function writeReplyTo(writer: Writer, id: Id): void {
  const { at } = writer;
  if (writeId(writer, REPLY, NUMERIC_REPLY, id)) return;
  writer.at = at;
  writeJsonField(writer, OTHERS_NUMBER * 8 + 2, { id });
}

/**
 * The start of a SessionResponse, before the `bytes` bytes of its chunk. They are sent from their own buffer, because copying them would
 * cost more than everything else.
 */
export function encodeChunkHead(id: Id, bytes: number, state?: PartState): Uint8Array {
  return bytesOf((writer) => {
    writeReplyTo(writer, id);
    const { at } = writer;
    writeChunkHead(writer, bytes, state);
    const head = writer.bytes.slice(at, writer.at);
    writer.at = at;
    writer.varint(RESOURCE_CHUNK * 8 + 2);
    writer.varint(head.length + bytes);
    writer.room(head.length);
    writer.bytes.set(head, writer.at);
    writer.at += head.length;
  });
}

/** Encodes a part of an answer as a SessionResponse. With the `state` of the call, chunks say where they start, as some peers need it. */
export function encodePart(id: Id, method: string, part: AnswerPart | RestPart, options: EncodeOptions, state?: PartState): Uint8Array {
  if (!options.twin) checkNumbers(part, part.kind);
  return bytesOf((writer) => {
    writeReplyTo(writer, id);
    const number = itemPayloads.get(method);
    writer.varint((number ?? RESOURCE_CHUNK) * 8 + 2);
    const from = writer.open();
    if (number === undefined) writeChunkPart(writer, part, options, state);
    else writeListPart(writer, method, part, options);
    writer.close(from);
  });
}

const payloads: ReadonlySet<number> = new Set([
  GENERIC,
  ...resultPayloadsByNumber.keys(),
  ...callsByNumber.keys(),
  ...itemsByNumber.keys(),
  RESOURCE_CHUNK,
  PROGRESS_PAYLOAD.number,
  STREAM_END,
  ERROR_PAYLOAD.number,
  STREAM_ERROR.number,
]);
const shape: FrameShape = { numeric: 3, reply: 2, numericReply: 4, window: -1, isPayload: (number) => payloads.has(number) };

export interface ToClientLimits extends DecodeLimits {
  /** The state of a call that is answered in parts, for servers that do not say where a content begins. */
  readonly stateOf?: (id: Id) => PartState | undefined;
}

/**
 * Decodes a SessionResponse, which may have several parts. An invalid payload becomes a bad message with the id of the call that it
 * answers. Throws a Fault only if the frame itself cannot be read.
 */
export function decodeToClient(
  bytes: Uint8Array,
  methodOf: (id: Id) => string | undefined,
  limits: ToClientLimits = defaultDecodeLimits,
): UnbatchedMessage | readonly UnbatchedMessage[] {
  const reader = new Reader(bytes);
  const frame = readFrame(reader, shape, limits.depth);
  if (typeof frame.reply === "string") frame.reply = callNamed(frame.reply, methodOf);
  try {
    if (frame.payload === 0) throw new Fault("invalid-request", "the message has no payload that is known here");
    reader.at = frame.from;
    reader.end = frame.to;
    return readPayload(reader, frame, methodOf, limits);
  } catch (error) {
    const fault = toFault(error);
    if (frame.payload === GENERIC && frame.reply === undefined)
      return { kind: "bad", ...(frame.id === undefined ? { silent: true } : { id: frame.id }), fault };
    if (frame.payload === PROGRESS_PAYLOAD.number || callsByNumber.has(frame.payload)) return { kind: "bad", silent: true, fault };
    return { kind: "bad", ...(frame.reply === undefined ? { silent: true } : { answers: frame.reply }), fault };
  }
}

/** The call that a text names: a base server returns the text of a number without saying that it is one. */
function callNamed(text: string, methodOf: (id: Id) => string | undefined): Id {
  if (methodOf(text) !== undefined) return text;
  const number = Number(text);
  return String(number) === text && methodOf(number) !== undefined ? number : text;
}

function readPayload(
  reader: Reader,
  frame: SessionFrame,
  methodOf: (id: Id) => string | undefined,
  limits: ToClientLimits,
): UnbatchedMessage | readonly UnbatchedMessage[] {
  const { payload, reply } = frame;
  const depth = limits.depth - 1;
  const id = reply ?? "";
  const known = resultPayloadsByNumber.get(payload);
  const item = itemsByNumber.get(payload);
  const answered = known?.name ?? item;
  if (answered !== undefined && (methodOf(id) ?? answered) !== answered)
    throw new Fault("invalid-request", `the answer is one to ${answered}`);
  if (known !== undefined) return { kind: "result", id, value: withAnswer(readMessage(reader, known.table, depth - 1), frame) };
  if (item !== undefined) {
    const part = readListPart(reader, item, depth);
    if (part === undefined) return [];
    if (part.kind === "rest") throw new Fault("invalid-request", "the rest of a list comes with its end");
    return { kind: "part", id, part };
  }
  const call = callsByNumber.get(payload);
  if (call !== undefined)
    return {
      kind: "notification",
      method: call.name,
      params: withParams({ requestId: id, ...readMessage(reader, call.table, depth - 1) }, frame),
    };
  switch (payload) {
    case GENERIC:
      return readGeneric(reader, frame, reply, depth);
    case RESOURCE_CHUNK:
      return readChunks(reader, id, limits, depth);
    case PROGRESS_PAYLOAD.number: {
      const params = readMessage(reader, PROGRESS_PAYLOAD.table, depth - 1);
      if (reply !== undefined && params["progressToken"] === undefined) params["progressToken"] = reply;
      return { kind: "notification", method: PROGRESS, params: withParams(params, frame) };
    }
    case STREAM_END:
      return { kind: "result", id, value: withAnswer(readEnd(reader, depth), frame) };
    default: {
      const error = withAnswer(errorOf(readMessage(reader, ERROR_PAYLOAD.table, depth - 1)), frame);
      return { kind: "error", ...(reply === undefined ? undefined : { id: reply }), error };
    }
  }
}

function readEnd(reader: Reader, depth: number): JsonObject {
  let rest: JsonObject = {};
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === 0x12) rest = readRest(reader, depth);
    else reader.skip(tag);
  }
  return rest;
}

function readChunks(reader: Reader, id: Id, limits: ToClientLimits, depth: number): readonly IncomingPart[] {
  const state = limits.stateOf?.(id) ?? partState();
  const parts: IncomingPart[] = [];
  for (const part of readChunkParts(reader, depth, state)) {
    if (part.kind !== "rest") parts.push({ kind: "part", id, part });
  }
  return parts;
}
