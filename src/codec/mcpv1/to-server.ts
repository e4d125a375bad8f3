import { Fault, isObject, type JsonObject, noParams, toFault } from "../../core/index.js";
import type { Incoming, IncomingBatch, OutgoingMessage } from "../jsonrpc.js";
import { nullParams } from "../members.js";
import {
  addMeta,
  bytesOf,
  type DecodeLimits,
  defaultDecodeLimits,
  type EncodeOptions,
  Reader,
  readMessage,
  type Writer,
  writeMessage,
} from "../protobuf/index.js";
import { OTHERS_NUMBER } from "./fields.js";
import { type FrameShape, outgoing, readFrame, readGeneric, type SessionFrame, withParams, writeEnvelope, writeGeneric } from "./frame.js";
import {
  CHUNKED,
  GENERIC,
  notificationPayloads,
  notificationPayloadsByNumber,
  READ_CHUNKED,
  requestPayloads,
  requestPayloadsByNumber,
  type SessionPayload,
  WINDOW_KEY,
} from "./session-tables.js";

const ID = 0x0a;
const NUMERIC = 0x10;
const WINDOW_TAG = 0x18;

/** Encodes a message of the client as a SessionRequest. */
export function encodeToServer(given: OutgoingMessage, options: EncodeOptions): Uint8Array {
  const message = outgoing(given, options);
  return bytesOf((writer) => {
    if (!("method" in message)) {
      writeGeneric(writer, "result" in message ? { result: message.result } : { error: message.error });
      writeEnvelope(writer, message, message.id === null ? 0 : ID, NUMERIC);
    } else if ("id" in message) writeRequest(writer, message, options);
    else writeNotification(writer, message, options);
  });
}

function writeRequest(
  writer: Writer,
  message: OutgoingMessage & { readonly method: string; readonly params?: JsonObject | null },
  options: EncodeOptions,
): void {
  const { method, params } = message;
  const meta = params?.["_meta"];
  const window = isObject(meta) ? meta[WINDOW_KEY] : undefined;
  const lifted = typeof window === "number" && Number.isSafeInteger(window) && window >= 0 && !Object.is(window, -0);
  if (lifted) {
    writer.varint(WINDOW_TAG);
    writer.varint(window);
  }
  const chunked = method === "resources/read" && isObject(meta) && isObject(meta[CHUNKED]);
  const payload = chunked ? READ_CHUNKED : requestPayloads.get(method);
  let more: JsonObject | undefined;
  // If members are required, absent params differ from empty ones.
  if (payload === undefined || params === null || (params === undefined && payload.table.required !== 0)) {
    more = writeGeneric(writer, { method, params: lifted && isObject(params) ? withoutWindow(params) : params });
  } else writePayload(writer, payload, params, options, lifted);
  writeEnvelope(writer, message, ID, NUMERIC, more);
}

function writePayload(
  writer: Writer,
  payload: SessionPayload,
  params: JsonObject | undefined,
  options: EncodeOptions,
  lifted: boolean,
): void {
  writer.varint(payload.number * 8 + 2);
  const from = writer.open();
  if (params !== undefined) {
    writeMessage(writer, payload.table, params, options, lifted ? WINDOW_KEY : undefined);
    // Empty params differ from absent ones.
    if (writer.at === from && !lifted) {
      writer.varint(OTHERS_NUMBER * 8 + 2);
      writer.varint(0);
    }
  }
  writer.close(from);
}

function withoutWindow(params: JsonObject): JsonObject | undefined {
  const { _meta, ...rest } = params;
  const { [WINDOW_KEY]: _, ...meta } = isObject(_meta) ? _meta : noParams;
  if (Object.keys(meta).length > 0) return { ...rest, _meta: meta };
  return Object.keys(rest).length > 0 ? rest : undefined;
}

function writeNotification(
  writer: Writer,
  message: OutgoingMessage & { readonly method: string; readonly params?: JsonObject | null },
  options: EncodeOptions,
): void {
  const { method, params } = message;
  const payload = notificationPayloads.get(method);
  let more: JsonObject | undefined;
  if (payload === undefined || params === undefined || params === null) more = writeGeneric(writer, { method, params, notification: true });
  else writePayload(writer, payload, params, options, false);
  writeEnvelope(writer, message, 0, 0, more);
}

const shape: FrameShape = {
  numeric: 2,
  reply: -1,
  numericReply: -1,
  window: 3,
  isPayload: (number) => number === GENERIC || requestPayloadsByNumber.has(number) || notificationPayloadsByNumber.has(number),
};

/**
 * Decodes a SessionRequest. An invalid payload becomes a bad message with its id, so that its sender gets an answer. Throws a Fault only if
 * the frame itself cannot be read.
 */
export function decodeToServer(bytes: Uint8Array, limits: DecodeLimits = defaultDecodeLimits): Exclude<Incoming, IncomingBatch> {
  const reader = new Reader(bytes);
  const frame = readFrame(reader, shape, limits.depth);
  const { payload, id } = frame;
  try {
    if (payload === 0) throw new Fault("unknown-method", "the message has no payload that is known here");
    reader.at = frame.from;
    reader.end = frame.to;
    if (payload === GENERIC) return withWindow(readGeneric(reader, frame, id, limits.depth - 1), frame);
    const known = requestPayloadsByNumber.get(payload);
    if (known !== undefined) {
      const empty = frame.from === frame.to && known.table.required === 0;
      const params = empty ? noParams : readMessage(reader, known.table, limits.depth - 2);
      return withWindow({ kind: "request", id: id ?? "", method: known.name, params: withParams(params, frame) }, frame);
    }
    const { name, table } = notificationPayloadsByNumber.get(payload) as { name: string; table: SessionPayload["table"] };
    return { kind: "notification", method: name, params: withParams(readMessage(reader, table, limits.depth - 2), frame) };
  } catch (error) {
    const fault = toFault(error);
    if (notificationPayloadsByNumber.has(payload)) return { kind: "bad", silent: true, fault };
    return payload === GENERIC && id !== undefined
      ? { kind: "bad", id, answers: id, fault }
      : { kind: "bad", ...(payload === GENERIC ? undefined : { id: id ?? "" }), fault };
  }
}

/** Puts the window that came beside a request's params back into them. */
function withWindow(message: Exclude<Incoming, IncomingBatch>, { window }: SessionFrame): Exclude<Incoming, IncomingBatch> {
  if (window === undefined || message.kind !== "request") return message;
  // Neither of the two shared objects may be changed.
  const params: Record<string, unknown> = message.params === noParams || message.params === nullParams ? {} : message.params;
  addMeta(params, { [WINDOW_KEY]: window });
  return message.params === params ? message : { ...message, params };
}
