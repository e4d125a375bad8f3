import {
  Fault,
  type FaultCode,
  fixedLimits,
  isObject,
  type JsonObject,
  noParams,
  type RpcError,
  toFault,
  withEnvelopeMembers,
} from "../core/index.js";
import { readBlobText } from "./blob-text.js";
import { exceedsDepth, holdsMore, MOST_VALUES, PARSED_FIRST, shallow, tooManyValues } from "./depth.js";
import type { Id, Incoming, IncomingBad, IncomingSingle, LinkMessage } from "./jsonrpc.js";
import type { Line } from "./lines.js";
import { nullParams, paramsBeside } from "./members.js";
import { DEEP, ODD, parseExactly, survey } from "./numbers.js";

export interface ParseLimits {
  /** Nesting of arrays and objects in one message. */
  readonly depth: number;
  /** Messages of one batch; 1024 unless given. */
  readonly batch?: number;
}

/** From this many characters on, a result states its size. */
const LARGE = 16 * 1024;

/**
 * Parses one message or batch; never throws. Members are recognised by their exact name. If a name occurs twice, the last one counts, as in
 * JSON.parse. Members that JSON-RPC does not name are kept as `envelopeMembers` of the params, result or error. Any name is plain data, even `__proto__`:
 * spreading copies such a member; assignment and Object.assign lose it. A number that a double would change becomes an ExactNumber.
 */
export function parseMessage(text: string, limits: ParseLimits): Incoming {
  const { depth } = limits;
  const blob = text.length > LARGE ? readBlobText(text) : undefined;
  if (blob !== undefined) return blob;
  const long = text.length > PARSED_FIRST;
  if (long && exceedsDepth(text, depth)) return tooDeep(text, depth);
  if (long && holdsMore(text, MOST_VALUES)) return { kind: "bad", ...whose(text), fault: tooManyValues() };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    if (!long && exceedsDepth(text, depth)) return tooDeep(text, depth);
    return { kind: "bad", fault: new Fault("parse", "the message is not JSON", { cause }) };
  }
  const found = survey(value, depth);
  if (found === DEEP) return tooDeep(text, depth);
  if (found === ODD) {
    try {
      value = parseExactly(text);
    } catch (error) {
      return { kind: "bad", ...whose(text), fault: toFault(error) };
    }
  }
  if (Array.isArray(value)) return readBatch(value, limits.batch ?? fixedLimits.batch);
  const message = read(value);
  return message.kind === "result" && text.length > LARGE ? { ...message, size: text.length } : message;
}

/** Parses a line of a line framer. */
export function parseLine(line: Line, limits: ParseLimits): LinkMessage {
  if (typeof line === "string") return parseMessage(line, limits);
  if ("message" in line) return line.message;
  return { kind: "bad", ...(line.text === undefined ? line.whose : whose(line.text)), fault: line.fault };
}

function readBatch(values: readonly unknown[], max: number): Incoming {
  if (values.length === 0) return { kind: "bad", fault: new Fault("invalid-request", "a batch holds at least one message") };
  if (values.length > max) {
    return { kind: "bad", fault: new Fault("overload", "the batch holds too many messages", { data: { limit: "batch", max } }) };
  }
  const messages = values.map(read);
  for (const message of messages) {
    if (message.kind === "request" && message.method === "initialize") {
      return { kind: "bad", id: message.id, fault: new Fault("invalid-request", "initialize must not be part of a batch") };
    }
  }
  return { kind: "batch", messages };
}

function read(value: unknown): IncomingSingle {
  if (!isObject(value)) return { kind: "bad", fault: new Fault("invalid-request", "a message is an object") };
  const { jsonrpc, id, method, params, result, error } = value;
  if (jsonrpc !== "2.0") return bad(value, 'jsonrpc must be "2.0"');
  if (method !== undefined) {
    if (typeof method !== "string") return bad(value, "method must be a string");
    if (result !== undefined || error !== undefined) return bad(value, "a message is a request or an answer, not both");
    if (id !== undefined && !isId(id)) return bad(value, badId);
    // JSON-RPC has arrays as params, by position, and MCP no method that takes them; anything else is not JSON-RPC.
    if (Array.isArray(params)) return bad(value, "params must be an object", "invalid-params");
    if (params !== undefined && params !== null && !isObject(params)) return bad(value, "params must be an object");
    const given = params === undefined ? noParams : (params ?? nullParams);
    const extra = extraOf(value, params === undefined ? 2 : 3, id, withMethod);
    const whole = extra === undefined ? given : paramsBeside(given, extra);
    return id === undefined ? { kind: "notification", method, params: whole } : { kind: "request", id, method, params: whole };
  }
  if (error === undefined) {
    if (result === undefined) return bad(value, "a message has a method, a result or an error");
    if (!isId(id)) return bad(value, badId);
    if (!isObject(result)) return bad(value, "result must be an object");
    const extra = extraOf(value, 2, id, withResult);
    return { kind: "result", id, value: extra === undefined ? result : withEnvelopeMembers(result, extra) };
  }
  if (result !== undefined) return bad(value, "an answer has a result or an error, not both");
  if (id !== undefined && id !== null && !isId(id)) return bad(value, badId);
  if (!isRpcError(error)) return bad(value, "error must have an integer code and a message");
  const extra = extraOf(value, 2, id, withError);
  const whole = extra === undefined ? error : withEnvelopeMembers(error, extra);
  return id === undefined || id === null ? { kind: "error", error: whole } : { kind: "error", id, error: whole };
}

const badId = "id must be a string or an integer that a double can hold";

/** An integer that a double cannot hold would come back as another id, and so would -0. */
function isId(id: unknown): id is Id {
  return typeof id === "string" || (Number.isSafeInteger(id) && !Object.is(id, -0));
}

function isRpcError(error: unknown): error is RpcError & JsonObject {
  return isObject(error) && Number.isSafeInteger(error["code"]) && typeof error["message"] === "string";
}

const withMethod: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);
const withResult: ReadonlySet<string> = new Set(["jsonrpc", "id", "result"]);
const withError: ReadonlySet<string> = new Set(["jsonrpc", "id", "error"]);

/** The members that are not `named`. `count` is the number of named ones, without `id`. */
function extraOf(value: JsonObject, count: number, id: unknown, named: ReadonlySet<string>): JsonObject | undefined {
  if (Object.keys(value).length === (id === undefined ? count : count + 1)) return undefined;
  // Not by assignment, which would set the prototype for the key `__proto__`.
  return Object.fromEntries(Object.entries(value).filter(([name]) => !named.has(name)));
}

function bad(value: JsonObject, message: string, code: FaultCode = "invalid-request"): IncomingBad {
  return { kind: "bad", ...namesOf(value), fault: new Fault(code, message) };
}

/** Whose id a broken message has: the peer's, ours, or possibly either. */
function namesOf({ id, method, result, error }: JsonObject): Pick<IncomingBad, "id" | "answers" | "silent"> {
  const tells = result !== undefined || error !== undefined;
  if (!isId(id)) {
    const notification = id === undefined && typeof method === "string" && !tells;
    return notification || (method === undefined && tells) ? { silent: true } : {};
  }
  if (method === undefined) return tells ? { answers: id } : { id, answers: id };
  return tells ? { id, answers: id } : { id };
}

function tooDeep(text: string, max: number): IncomingBad {
  return { kind: "bad", ...whose(text), fault: new Fault("overload", "the message is nested too deep", { data: { limit: "depth", max } }) };
}

/** Finds the id without building the rest, so that whoever waits for an answer gets one. */
function whose(text: string): ReturnType<typeof namesOf> {
  try {
    const value: unknown = JSON.parse(shallow(text));
    return isObject(value) ? namesOf(value) : {};
  } catch {
    return {};
  }
}
