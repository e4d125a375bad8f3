import {
  checkNumbers,
  Fault,
  isObject,
  isRpcError,
  type JsonObject,
  noParams,
  type RpcError,
  withEnvelopeMembers,
} from "../../core/index.js";
import type { Id, Incoming, IncomingBatch, OutgoingMessage } from "../jsonrpc.js";
import { nullParams, paramsBeside, whole } from "../members.js";
import {
  type EncodeOptions,
  idNumber,
  malformed,
  type Reader,
  readJsonField,
  readJsonObject,
  refused,
  setMember,
  type Writer,
  writeId,
  writeJsonField,
} from "../protobuf/index.js";
import { OTHERS_NUMBER } from "./fields.js";
import { GENERIC } from "./session-tables.js";

/** A parsed session frame, without its payload. */
export interface SessionFrame {
  /** message_id, with its type. */
  id: Id | undefined;
  /** in_reply_to, with its type. */
  reply: Id | undefined;
  window: number | undefined;
  /** The number of the payload, 0 if it has none that is known. */
  payload: number;
  from: number;
  to: number;
  /** Members of the message other than those of JSON-RPC. */
  extra: JsonObject | undefined;
  /** A method that a protobuf string cannot hold. */
  method: string | undefined;
}

/** A message in the form to write. A peer that accepts no JSON has only doubles for numbers. */
export function outgoing(message: OutgoingMessage, { twin }: EncodeOptions): OutgoingMessage {
  const written = whole(message);
  if (!twin) checkNumbers(written, "");
  return written;
}

/** Where the two directions differ. */
export interface FrameShape {
  /** The field that flags message_id as a number. */
  readonly numeric: number;
  /** The fields of in_reply_to and its flag. */
  readonly reply: number;
  readonly numericReply: number;
  readonly window: number;
  readonly isPayload: (number: number) => boolean;
}

export function readFrame(reader: Reader, shape: FrameShape, depth: number): SessionFrame {
  const frame: SessionFrame = {
    id: undefined,
    reply: undefined,
    window: undefined,
    payload: 0,
    from: 0,
    to: 0,
    extra: undefined,
    method: undefined,
  };
  let numeric = false;
  let numericReply = false;
  let others: JsonObject | undefined;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    const number = tag >>> 3;
    const wire = tag & 7;
    if (number === 1 || number === shape.reply || number === OTHERS_NUMBER || shape.isPayload(number)) {
      if (wire !== 2) throw malformed("a field has the wrong wire type");
      if (number === 1) frame.id = once(frame.id, reader.text());
      else if (number === shape.reply) frame.reply = once(frame.reply, reader.text());
      else if (number === OTHERS_NUMBER) others = once(others, readJsonObject(reader, depth));
      else {
        if (frame.payload !== 0) throw refused("a message of a session holds one payload");
        frame.payload = number;
        frame.to = reader.limit();
        frame.from = reader.at;
        reader.at = frame.to;
      }
    } else if (number === shape.numeric || number === shape.numericReply || number === shape.window) {
      if (wire !== 0) throw malformed("a field has the wrong wire type");
      if (number === shape.numeric) numeric = reader.varint() !== 0;
      else if (number === shape.numericReply) numericReply = reader.varint() !== 0;
      else frame.window = reader.int64();
    } else reader.skip(tag);
  }
  if (numeric) frame.id = idNumber(frame.id);
  if (numericReply) frame.reply = idNumber(frame.reply);
  if (others !== undefined) readOthers(frame, others);
  return frame;
}

function once<T>(before: T | undefined, value: T): T {
  if (before !== undefined) throw refused("a field of the frame comes twice");
  return value;
}

/** Reads the members of a JSON-RPC message that have no field, or whose value does not fit it. */
function readOthers(frame: SessionFrame, others: JsonObject): void {
  const { id, method, jsonrpc, result, error, ...extra } = others;
  if (jsonrpc !== undefined || result !== undefined || error !== undefined) throw refused("a member of the message has its own field");
  if (id !== undefined) {
    if (typeof id !== "string" || frame.id !== undefined || frame.reply !== undefined) throw refused("id comes twice, or is none");
    frame.id = frame.reply = id;
  }
  if (method !== undefined) {
    if (typeof method !== "string") throw refused("method is not a string");
    frame.method = method;
  }
  for (const _ in extra) {
    frame.extra = extra;
    break;
  }
}

/** The params with what the frame says besides. */
export function withParams(params: JsonObject, { extra }: SessionFrame): JsonObject {
  if (extra === undefined) return params;
  if (extra["params"] !== undefined) throw refused("params have their own field");
  return paramsBeside(params, extra);
}

/** The result or error with what the frame says besides. */
export function withAnswer<T extends object>(answer: T, { extra }: SessionFrame): T {
  return extra === undefined ? answer : withEnvelopeMembers(answer, extra);
}

const ofRequests: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);
const ofAnswers: ReadonlySet<string> = new Set(["jsonrpc", "id", "result", "error", "fault"]);

/**
 * Writes an id, and every member of a message that has no field. `idTag` is 0 if there is no id to write; `more` has other values that do
 * not fit.
 */
export function writeEnvelope(writer: Writer, message: object, idTag: number, flag: number, more?: JsonObject): void {
  let others: Record<string, unknown> | undefined = more === undefined ? undefined : { ...more };
  const id = "id" in message ? message.id : undefined;
  if (idTag !== 0) {
    const { at } = writer;
    if (!writeId(writer, idTag, flag, id)) {
      writer.at = at;
      (others ??= {})["id"] = id;
    }
  }
  const named = "method" in message ? ofRequests : ofAnswers;
  for (const name in message) {
    if (named.has(name)) continue;
    const value = (message as JsonObject)[name];
    if (value !== undefined) setMember((others ??= {}), name, value);
  }
  if (others !== undefined) writeJsonField(writer, OTHERS_NUMBER * 8 + 2, others);
}

/** The content of a generic payload, as in JSON-RPC. */
export interface Generic {
  readonly method?: string;
  readonly params?: JsonObject | null | undefined;
  readonly result?: JsonObject;
  readonly error?: RpcError;
  readonly notification?: boolean;
}

/** Writes the generic payload. Returns the method if it does not fit its field. */
export function writeGeneric(writer: Writer, generic: Generic): JsonObject | undefined {
  let more: JsonObject | undefined;
  writer.varint(GENERIC * 8 + 2);
  const from = writer.open();
  if (generic.method !== undefined) {
    const { at } = writer;
    writer.varint(0x0a);
    if (!writer.text(generic.method)) {
      writer.at = at;
      more = { method: generic.method };
    }
  }
  if (generic.params !== undefined && generic.params !== noParams) writeJsonField(writer, 0x12, generic.params);
  if (generic.result !== undefined && !writeJsonField(writer, 0x1a, generic.result))
    throw new Fault("internal", "a result must be an object");
  if (generic.error !== undefined) writeJsonField(writer, 0x22, generic.error);
  if (generic.notification === true) {
    writer.varint(0x28);
    writer.varint(1);
  }
  writer.close(from);
  return more;
}

/** Reads the generic payload of a frame. `answers` is the id that it has as an answer. */
export function readGeneric(reader: Reader, frame: SessionFrame, answers: Id | undefined, depth: number): Exclude<Incoming, IncomingBatch> {
  let method = frame.method;
  let params: JsonObject = noParams;
  let result: JsonObject | undefined;
  let error: unknown;
  let notification = false;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) method = reader.text();
    else if (tag === 0x12) params = paramsOf(readJsonField(reader, depth));
    else if (tag === 0x1a) result = objectOf(readJsonField(reader, depth), "result");
    else if (tag === 0x22) error = readJsonField(reader, depth);
    else if (tag === 0x28) notification = reader.varint() !== 0;
    else reader.skip(tag);
  }
  if (Number(method !== undefined) + Number(result !== undefined) + Number(error !== undefined) !== 1) {
    throw refused("a message has a method, a result or an error");
  }
  if (method !== undefined) {
    const message = { method, params: withParams(params, frame) };
    return notification ? { kind: "notification", ...message } : { kind: "request", id: frame.id ?? "", ...message };
  }
  if (result !== undefined) return { kind: "result", id: answers ?? "", value: withAnswer(result, frame) };
  return { kind: "error", ...(answers === undefined ? undefined : { id: answers }), error: withAnswer(errorOf(error), frame) };
}

function paramsOf(value: unknown): JsonObject {
  return value === null ? nullParams : objectOf(value, "params");
}

function objectOf(value: unknown, name: string): JsonObject {
  if (!isObject(value)) throw refused(`${name} must be an object`);
  return value;
}

export function errorOf(error: unknown): RpcError {
  if (!isRpcError(error)) throw refused("error must have an integer code and a message");
  return error;
}
