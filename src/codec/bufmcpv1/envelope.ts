import { Fault, isObject, type JsonObject } from "../../core/index.js";
import type { Id } from "../jsonrpc.js";
import {
  malformed,
  type Reader,
  readJsonField,
  readJsonObject,
  refused,
  setMember,
  type Writer,
  writeJsonField,
} from "../protobuf/index.js";
import { OTHER_MEMBERS } from "./fields.js";
import { ERROR, JSON_RPC, notificationsByNumber, requestsByNumber, resultsByNumber } from "./payloads.js";

/** A parsed MCPMessage, without its payload. */
export interface Envelope {
  /** Undefined for a notification. An integer that no double holds is kept as text. */
  id: Id | undefined;
  /** The number of the payload, 0 if it has none that is known. */
  payload: number;
  from: number;
  to: number;
  /** Whether it has more than one payload. */
  more: boolean;
  /** Members of the message other than those of JSON-RPC. */
  extra: JsonObject | undefined;
}

const ID = 0x08;
const ID_JSON = 200;
const PAYLOAD_MOST = 199;

function isKnown(number: number): boolean {
  return (
    number === JSON_RPC ||
    number === ERROR.number ||
    requestsByNumber.has(number) ||
    resultsByNumber.has(number) ||
    notificationsByNumber.has(number)
  );
}

export function readEnvelope(reader: Reader, depth: number): Envelope {
  const found: Envelope = { id: undefined, payload: 0, from: 0, to: 0, more: false, extra: undefined };
  let json: unknown;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    const number = tag >>> 3;
    if (tag === ID) found.id = readId(reader);
    else if (number === 1) throw malformed("id has the wrong wire type");
    else if (number === ID_JSON) json = readJsonField(reader, 1);
    else if (number === OTHER_MEMBERS) found.extra = readJsonObject(reader, depth);
    else if (number <= PAYLOAD_MOST && isKnown(number)) {
      if ((tag & 7) !== 2) throw malformed("a payload has the wrong wire type");
      if (found.payload !== 0) found.more = true;
      found.payload = number;
      found.to = reader.limit();
      found.from = reader.at;
      reader.at = found.to;
    } else reader.skip(tag);
  }
  if (json !== undefined) {
    if (typeof json !== "string" && !Number.isSafeInteger(json)) throw refused("id is neither a string nor an integer");
    found.id = json as Id;
  }
  return found;
}

/** 0 means that there is no id. */
function readId(reader: Reader): Id | undefined {
  const { at } = reader;
  const number = reader.int64();
  if (Number.isSafeInteger(number) && number >= 0) return number === 0 ? undefined : number;
  let bits = 0n;
  for (let from = reader.at - 1; from >= at; from--) bits = (bits << 7n) | BigInt((reader.bytes[from] as number) & 0x7f);
  return String(BigInt.asUintN(64, bits));
}

const LARGEST_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const LARGEST = 2n ** 64n - 1n;

/** Whether a text is that of an integer which fits a uint64 but no double. It came as a uint64, or is read back as the same text. */
function isLarge(id: string): boolean {
  return /^[1-9]\d{15,19}$/.test(id) && BigInt(id) > LARGEST_SAFE && BigInt(id) <= LARGEST;
}

/** Writes an id. Returns false, and writes nothing, if only `id_json` could hold it and the peer does not know that. */
export function writeIdTo(writer: Writer, id: Id, full: boolean): boolean {
  if (typeof id === "number" && id > 0 && Number.isSafeInteger(id)) {
    writer.varint(ID);
    writer.varint(id);
  } else if (typeof id === "string" && isLarge(id)) {
    writer.varint(ID);
    writer.room(10);
    let rest = BigInt(id);
    for (; rest > 127n; rest >>= 7n) writer.bytes[writer.at++] = Number(rest & 0x7fn) | 0x80;
    writer.bytes[writer.at++] = Number(rest);
  } else return full && writeJsonField(writer, ID_JSON * 8 + 2, id);
  return true;
}

const named: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params", "result", "error", "fault", "blob"]);

/** Writes the members of a message that JSON-RPC does not name. */
export function writeExtra(writer: Writer, message: object): void {
  let others: Record<string, unknown> | undefined;
  for (const name in message) {
    const value = (message as JsonObject)[name];
    if (!named.has(name) && value !== undefined) setMember((others ??= {}), name, value);
  }
  if (others !== undefined) writeJsonField(writer, OTHER_MEMBERS * 8 + 2, others);
}

/** A JSON-RPC message, with its members as in the generic payload. */
export interface JsonRpc {
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export function writeJsonRpc(writer: Writer, { method, params, result, error }: JsonRpc): void {
  writer.varint(JSON_RPC * 8 + 2);
  const from = writer.open();
  if (method !== undefined) {
    const { at } = writer;
    writer.varint(0x0a);
    if (!writer.text(method)) {
      writer.at = at;
      writeJsonField(writer, 0x2a, method);
    }
  }
  if (params !== undefined) writeJsonField(writer, 0x12, params);
  if (result !== undefined && !writeJsonField(writer, 0x1a, result)) throw new Fault("internal", "a result must be an object");
  if (error !== undefined) writeJsonField(writer, 0x22, error);
  writer.close(from);
}

function textOf(value: unknown): string {
  if (typeof value !== "string") throw refused("method must be a string");
  return value;
}

export function readJsonRpc(reader: Reader, depth: number): JsonRpc {
  let method: string | undefined;
  let params: unknown;
  let result: unknown;
  let error: unknown;
  while (reader.at < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) method = reader.text();
    else if (tag === 0x2a) method = textOf(readJsonField(reader, 1));
    else if (tag === 0x12) params = readJsonField(reader, depth);
    else if (tag === 0x1a) result = readJsonField(reader, depth);
    else if (tag === 0x22) error = readJsonField(reader, depth);
    else reader.skip(tag);
  }
  if (Number(method !== undefined) + Number(result !== undefined) + Number(error !== undefined) !== 1)
    throw refused("a message has a method, a result or an error");
  if (params !== undefined && params !== null && !isObject(params)) throw refused("params must be an object");
  if (result !== undefined && !isObject(result)) throw refused("result must be an object");
  return { ...(method === undefined ? undefined : { method }), params, result, error };
}
