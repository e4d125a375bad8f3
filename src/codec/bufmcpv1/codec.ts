import {
  Fault,
  isObject,
  type JsonObject,
  jsonRpcCodes,
  modernVersions,
  noParams,
  noteMessage,
  protoMcpCodes,
  type RpcError,
  rpcCodes,
  toFault,
  toRpcError,
  withEnvelopeMembers,
} from "../../core/index.js";
import type { Id, IncomingSingle, Outgoing, OutgoingMessage, OutgoingRequest } from "../jsonrpc.js";
import { nullParams, paramsBeside } from "../members.js";
import {
  bytesOf,
  type DecodeLimits,
  defaultDecodeLimits,
  isTyped,
  malformed,
  Reader,
  readMessage,
  refused,
  type Writer,
  writeMessage,
} from "../protobuf/index.js";
import { sentMessage } from "../serialise.js";
import { baseAnswer, baseError, baseRequest } from "./base.js";
import { isProtoJson, type ProtoEncoding, unreadJson } from "./encodings.js";
import { type Envelope, readEnvelope, readJsonRpc, writeExtra, writeIdTo, writeJsonRpc } from "./envelope.js";
import { BSR_REF, BSR_REFS, INLINE_SCHEMA } from "./fields.js";
import { isFull, probeToWire, requestToWire, VERSION } from "./handshake.js";
import {
  ERROR,
  JSON_RPC,
  notifications,
  notificationsByNumber,
  type Payload,
  requests,
  requestsByNumber,
  results,
  resultsByNumber,
} from "./payloads.js";
import type { ProtoJson } from "./proto-json.js";

/** The request with which an end finds out what its peer speaks. It begins no MCP session, and no service sees it. */
export const PROBE = "dev.anywire/probe";
const INITIALIZE = "initialize";
const CANCELLED = "notifications/cancelled";

/**
 * Converts JSON-RPC messages to and from the `MCPMessage`s of one connection. It knows what the peer announced, and the methods of open
 * requests.
 */
export class MessageCodec {
  /** Whether the peer knows more than the base; undefined until it has stated its version. */
  full: boolean | undefined;
  /** What messages are written as JSON with; protobuf unless given. */
  json: ProtoJson | undefined;
  /** The encodings that this end offers, the best first. */
  encodings: readonly ProtoEncoding[] = ["protobuf"];
  /** Those that a client offered. */
  offered: readonly unknown[] | undefined;
  readonly #depth: number;
  /** The methods of unanswered requests. */
  readonly #open = new Map<Id, string>();
  /** Those of requests whose id another one had already. */
  readonly #again = new Map<Id, string[]>();
  /** The references that lists of tools were asked for. */
  readonly #refs = new Map<Id, readonly unknown[]>();

  constructor(limits: DecodeLimits = defaultDecodeLimits, full?: boolean) {
    this.#depth = limits.depth;
    this.full = full;
  }

  /**
   * The bytes of one message, behind `room` for as many others; undefined if the peer has no way to hear of it, and nobody waits for an
   * answer. Throws a Fault if it cannot be said.
   */
  encode(outgoing: Outgoing, room = 0): Uint8Array | undefined {
    if (this.json === undefined) return this.#encode(outgoing, room);
    const bytes = this.#encode(outgoing, 0);
    if (bytes === undefined) return undefined;
    const text = this.json.write(bytes, this.full !== false);
    const made = new Uint8Array(room + text.length);
    made.set(text, room);
    return made;
  }

  #encode(outgoing: Outgoing, room: number): Uint8Array | undefined {
    if (Array.isArray(outgoing)) throw new Fault("internal", "proto-mcp has no batches");
    const message = sentMessage(outgoing as OutgoingMessage);
    if ("method" in message) {
      if (!("id" in message)) return this.#notification(message, room);
      if (message.method === PROBE) return probe(message, this.encodings, room);
      return bytesOf((writer) => {
        if (!writeIdTo(writer, message.id, this.full !== false))
          throw new Fault("internal", "the id of a request must be an integer from 1 up");
        this.#writeRequest(writer, message.method, message.params);
        if (this.full !== false) writeExtra(writer, message);
      }, room);
    }
    const { id } = message;
    const method = id === null ? undefined : this.#answered(id, "error" in message ? message.error : undefined);
    const refs = id === null ? undefined : this.#refs.get(id);
    if (refs !== undefined) this.#refs.delete(id as Id);
    const answer = (write: (writer: Writer) => void): Uint8Array =>
      bytesOf((writer) => {
        if (id !== null) writeIdTo(writer, id, this.full !== false);
        write(writer);
        if (this.full !== false) writeExtra(writer, message);
      }, room);
    if ("error" in message)
      return answer((writer) => this.#writeError(writer, this.full === true ? message.error : inOwnCode(message.error, method)));
    try {
      return answer((writer) => this.#writeResult(writer, method, refs === undefined ? message.result : having(refs, message.result)));
    } catch (error) {
      // The caller waits, and an incomplete answer would mean something else.
      return answer((writer) => this.#writeError(writer, toRpcError(toFault(error), "legacy")));
    }
  }

  /** The method of the request that an answer is for, which is not open any more. */
  #answered(id: Id, error: RpcError | undefined): string | undefined {
    const method = this.#open.get(id);
    const again = this.#again.get(id);
    if (again === undefined) {
      this.#open.delete(id);
      return method;
    }
    // A request whose id is in use is refused at once. Any other answer is that of the first.
    const refusal = error?.code === rpcCodes.invalidRequest;
    const next = (refusal ? again.pop() : again.shift()) as string;
    if (again.length === 0) this.#again.delete(id);
    if (refusal) return next;
    this.#open.set(id, next);
    return method;
  }

  #notification(message: Exclude<OutgoingMessage, { readonly id: unknown }>, room: number): Uint8Array | undefined {
    if (this.full === false) return undefined;
    const { method, params } = message as { readonly method: string; readonly params?: JsonObject | null };
    const payload = notifications.get(method);
    return bytesOf((writer) => {
      if (payload === undefined || !isObject(params)) writeJsonRpc(writer, { method, params });
      else write(writer, payload, params, true);
      writeExtra(writer, message);
    }, room);
  }

  #writeRequest(writer: Writer, method: string, params: JsonObject | null | undefined): void {
    const payload = requests.get(method);
    if (method === INITIALIZE && payload !== undefined && isObject(params) && payload.takes?.(params) !== false)
      return write(writer, payload, requestToWire(params, this.encodings), this.full !== false);
    if (this.full === false) {
      if (payload === undefined || payload.added) throw new Fault("unknown-method", `the base of proto-mcp has no ${method}`);
      return write(writer, payload, baseRequest(payload.table, params ?? {}), false);
    }
    if (payload === undefined || !isObject(params) || payload.takes?.(params) === false) writeJsonRpc(writer, { method, params });
    else write(writer, payload, params, true);
  }

  #writeResult(writer: Writer, method: string | undefined, result: JsonObject): void {
    const payload = method === undefined ? undefined : results.get(method);
    if (method === PROBE) return write(writer, { ...results.get(INITIALIZE), to: undefined } as unknown as Payload, result, true);
    if (this.full === false) {
      if (payload === undefined || payload.added)
        throw new Fault("internal", `the base of proto-mcp has no answer to ${method ?? "this call"}`);
      return writeBase(writer, payload, result);
    }
    if (payload === undefined || payload.takes?.(result) === false) writeJsonRpc(writer, { result });
    else write(writer, payload, result, true);
  }

  #writeError(writer: Writer, error: RpcError): void {
    // Until a peer has stated its version, it may be a base peer.
    if (this.full !== true) write(writer, ERROR, baseError(error as unknown as JsonObject), false);
    else write(writer, ERROR, error as unknown as JsonObject, true);
  }

  /** The messages in the bytes. An invalid payload becomes a bad message with its id, so that its sender gets an answer. Never throws. */
  decode(bytes: Uint8Array): readonly IncomingSingle[] {
    if (isProtoJson(bytes)) return [{ kind: "bad", fault: unreadJson(bytes) }];
    const reader = new Reader(bytes);
    let envelope: Envelope;
    try {
      envelope = readEnvelope(reader, this.#depth);
    } catch (error) {
      return [{ kind: "bad", fault: toFault(error) }];
    }
    try {
      if (envelope.more) throw refused("a message holds one payload");
      if (envelope.payload === 0) throw new Fault("unknown-method", "the message has no payload that is known here");
      reader.at = envelope.from;
      reader.end = envelope.to;
      return this.#payload(reader, envelope);
    } catch (error) {
      return [bad(envelope, toFault(error))];
    }
  }

  /** As `decode`, of a message in proto JSON. */
  decodeJson(text: Uint8Array, json: ProtoJson): readonly IncomingSingle[] {
    try {
      return this.decode(json.read(text, this.#depth));
    } catch (error) {
      const fault = error instanceof Fault ? error : new Fault("parse", "the message is no MCPMessage in JSON", { cause: error });
      const id = error instanceof Fault ? undefined : json.id(text);
      return [id === undefined ? { kind: "bad", fault } : { kind: "bad", id, answers: id, fault }];
    }
  }

  #payload(reader: Reader, envelope: Envelope): readonly IncomingSingle[] {
    const { payload, id } = envelope;
    if (payload === JSON_RPC) return [this.#jsonRpc(reader, envelope)];
    const request = requestsByNumber.get(payload);
    if (request !== undefined) return this.#request(request.name, readMessage(reader, request.payload.table, this.#depth - 2), envelope);
    const notification = notificationsByNumber.get(payload);
    if (notification !== undefined)
      return [this.#notified(notification.name, readMessage(reader, notification.payload.table, this.#depth - 2), envelope)];
    if (id === undefined && payload !== ERROR.number) throw refused("an answer has an id");
    const result = resultsByNumber.get(payload);
    if (result === undefined) {
      const error = errorOf(readMessage(reader, ERROR.table, this.#depth - 2));
      return [{ kind: "error", ...(id === undefined ? undefined : { id }), error: withExtra(error, envelope) }];
    }
    const value = readMessage(reader, result.payload.table, this.#depth - 2);
    if (result.name === INITIALIZE) this.full = isFull(value);
    const made = result.payload.from?.(value, this.full === true) ?? value;
    return [{ kind: "result", id: id as Id, value: withExtra(made, envelope) }];
  }

  #request(method: string, value: JsonObject, envelope: Envelope): readonly IncomingSingle[] {
    const { id } = envelope;
    if (id === undefined) throw refused("a request has an id");
    if (method !== INITIALIZE) {
      // Ends of 1.3 write JSON of this form as a message, too.
      if (this.full === false && isTyped(value["arguments"])) noteMessage(value["arguments"]);
      const refs = isObject(value["_meta"]) ? value["_meta"][BSR_REFS] : undefined;
      if (Array.isArray(refs) && refs.length > 0) this.#refs.set(id, refs);
      return [this.#opened(id, method, value, envelope)];
    }
    this.full = isFull(value);
    const { capabilities } = value;
    this.offered = isObject(capabilities) && Array.isArray(capabilities["encodings"]) ? capabilities["encodings"] : undefined;
    if (value["probe"] === true) return [this.#opened(id, PROBE, value, envelope)];
    const params = requests.get(INITIALIZE)?.from?.(value, this.full) ?? value;
    const opened = this.#opened(id, method, params, envelope);
    // A base client cannot say that it is ready.
    return this.full ? [opened] : [opened, { kind: "notification", method: "notifications/initialized", params: noParams }];
  }

  #opened(id: Id, method: string, params: JsonObject, { extra }: Envelope): IncomingSingle {
    if (!this.#open.has(id)) this.#open.set(id, method);
    else this.#again.set(id, [...(this.#again.get(id) ?? []), method]);
    return { kind: "request", id, method, params: extra === undefined ? params : paramsBeside(params, extra) };
  }

  #notified(method: string, params: JsonObject, { extra }: Envelope): IncomingSingle {
    // Such a call may stay without an answer.
    if (method === CANCELLED) {
      this.#open.delete(params["requestId"] as Id);
      this.#refs.delete(params["requestId"] as Id);
    }
    return { kind: "notification", method, params: extra === undefined ? params : paramsBeside(params, extra) };
  }

  #jsonRpc(reader: Reader, envelope: Envelope): IncomingSingle {
    const { id } = envelope;
    const { method, params, result, error } = readJsonRpc(reader, this.#depth - 1);
    if (method !== undefined) {
      const given = params === undefined ? noParams : ((params ?? nullParams) as JsonObject);
      return id === undefined ? this.#notified(method, given, envelope) : this.#opened(id, method, given, envelope);
    }
    if (result !== undefined) {
      if (id === undefined) throw refused("an answer has an id");
      return { kind: "result", id, value: withExtra(result as JsonObject, envelope) };
    }
    return { kind: "error", ...(id === undefined ? undefined : { id }), error: withExtra(errorOf(error), envelope) };
  }
}

/** This edge's codes for a tool that timed out, in either era. */
const late: ReadonlySet<number> = new Set(Object.values(jsonRpcCodes.deadline));

/** Gives an error of Anywire the code that proto-mcp has for it. */
function inOwnCode(error: RpcError, method: string | undefined): RpcError {
  return method === "tools/call" && late.has(error.code) ? { ...error, code: protoMcpCodes.toolTimeout } : error;
}

/** The answer to a probe. */
export const probed: JsonObject = {
  protocolVersion: VERSION,
  capabilities: { supportsBsrRefs: true, supportsStreaming: true },
  mcpVersion: modernVersions[0],
};

function probe({ id, params }: OutgoingRequest, encodings: readonly string[], room: number): Uint8Array {
  const payload = requests.get(INITIALIZE) as Payload;
  return bytesOf((writer) => {
    writeIdTo(writer, id, true);
    write(writer, payload, probeToWire(params ?? noParams, encodings), true);
  }, room);
}

function write(writer: Writer, payload: Payload, value: JsonObject, full: boolean): void {
  writer.varint(payload.number * 8 + 2);
  const from = writer.open();
  writeMessage(writer, payload.table, payload.to?.(value, full) ?? value, { twin: full, base: !full });
  writer.close(from);
}

/** An answer is checked in the form that its fields have. */
function writeBase(writer: Writer, { to, ...payload }: Payload, result: JsonObject): void {
  write(writer, payload, baseAnswer(payload.table, to?.(result, false) ?? result), false);
}

/** Of a list of tools, those that were asked for. One with its descriptors was chosen where these come from. */
function having(refs: readonly unknown[], result: JsonObject): JsonObject {
  if (!Array.isArray(result["tools"])) return result;
  const tools = result["tools"].filter((tool) => {
    const meta = isObject(tool) && isObject(tool["_meta"]) ? tool["_meta"] : {};
    return INLINE_SCHEMA in meta || refs.includes(meta[BSR_REF]);
  });
  return { ...result, tools };
}

function withExtra<T extends object>(answer: T, { extra }: Envelope): T {
  return extra === undefined ? answer : withEnvelopeMembers(answer, extra);
}

function bad({ payload, id }: Envelope, fault: Fault): IncomingSingle {
  if (notificationsByNumber.has(payload) || (id === undefined && !requestsByNumber.has(payload)))
    return { kind: "bad", silent: true, fault };
  if (resultsByNumber.has(payload) || payload === ERROR.number) return { kind: "bad", answers: id as Id, fault };
  if (requestsByNumber.has(payload)) return id === undefined ? { kind: "bad", fault } : { kind: "bad", id, fault };
  return { kind: "bad", id: id as Id, answers: id as Id, fault };
}

function errorOf(error: unknown): RpcError & JsonObject {
  if (!isObject(error) || !Number.isSafeInteger(error["code"]) || typeof error["message"] !== "string")
    throw malformed("error must have an integer code and a message");
  return error as RpcError & JsonObject;
}
