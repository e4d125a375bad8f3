import { Fault, type FaultCode, isObject, type JsonObject, type RpcError } from "../core/index.js";
import { readBlobText } from "./blob-text.js";
import { exceedsDepth, nestsDeeper, shallow } from "./depth.js";
import type { Id, Incoming, IncomingBad, IncomingBatch, IncomingPart } from "./jsonrpc.js";
import type { Line } from "./lines.js";

export interface ParseLimits {
  /** Nesting of arrays and objects in one message. */
  readonly depth: number;
  /** Messages of one batch; 1024 unless said otherwise. */
  readonly batch?: number;
}

type Single = Exclude<Incoming, IncomingBatch>;

/** The params of a message that has none: this very object, so that absent and empty stay apart. */
export const noParams: JsonObject = Object.freeze({});

/**
 * Texts up to this length are parsed before their depth is looked at: in the value that costs a quarter of what it does in the
 * text. A longer one might take too much memory on the way to the value.
 */
const parsedFirst = 2 * 1024 * 1024;

/** Characters from which on a result says how many it has. */
const LARGE = 16 * 1024;

/**
 * Reads one message or batch; never throws. Members are known by their exact name, of two with the same name the last counts
 * (JSON.parse reads them so, and every part of Anywire reads what it made), and those that JSON-RPC does not name are kept in
 * `extra`. Any name is plain data, `__proto__` too: spread copies such a member, assignment and Object.assign lose it.
 */
export function parseMessage(text: string, limits: ParseLimits): Incoming {
  const { depth } = limits;
  const blob = text.length > LARGE ? readBlobText(text) : undefined;
  if (blob !== undefined) return blob;
  const long = text.length > parsedFirst;
  if (long && exceedsDepth(text, depth)) return tooDeep(text, depth);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    if (!long && exceedsDepth(text, depth)) return tooDeep(text, depth);
    return { kind: "bad", fault: new Fault("parse", "the message is no JSON", { cause }) };
  }
  // Every level takes two characters.
  if (!long && text.length > 2 * depth && nestsDeeper(value, depth)) return tooDeep(text, depth);
  if (Array.isArray(value)) return readBatch(value, limits.batch ?? 1024);
  const message = read(value);
  return message.kind === "result" && text.length > LARGE ? { ...message, size: text.length } : message;
}

/** Reads what a line framer gave. */
export function parseLine(line: Line, limits: ParseLimits): Incoming | IncomingPart {
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

function read(value: unknown): Single {
  if (!isObject(value)) return { kind: "bad", fault: new Fault("invalid-request", "a message is an object") };
  const { jsonrpc, id, method, params, result, error } = value;
  if (jsonrpc !== "2.0") return bad(value, 'jsonrpc must be "2.0"');
  if (method !== undefined) {
    if (typeof method !== "string") return bad(value, "method must be a string");
    if (result !== undefined || error !== undefined) return bad(value, "a message is a request or an answer, not both");
    if (id !== undefined && !isId(id)) return bad(value, "id must be a string or an integer");
    // JSON-RPC has arrays as params, by position, and MCP no method that takes them; anything else is no JSON-RPC.
    if (Array.isArray(params)) return bad(value, "params must be an object", "invalid-params");
    if (params !== undefined && !isObject(params)) return bad(value, "params must be an object");
    const extra = extraOf(value, params === undefined ? 2 : 3, id, withMethod);
    const message = { method, params: params ?? noParams };
    if (id === undefined) return extra === undefined ? { kind: "notification", ...message } : { kind: "notification", ...message, extra };
    return extra === undefined ? { kind: "request", id, ...message } : { kind: "request", id, ...message, extra };
  }
  if (error === undefined) {
    if (result === undefined) return bad(value, "a message has a method, a result or an error");
    if (!isId(id)) return bad(value, "id must be a string or an integer");
    if (!isObject(result)) return bad(value, "result must be an object");
    const extra = extraOf(value, 2, id, withResult);
    return extra === undefined ? { kind: "result", id, value: result } : { kind: "result", id, value: result, extra };
  }
  if (result !== undefined) return bad(value, "an answer has a result or an error, not both");
  if (id !== undefined && id !== null && !isId(id)) return bad(value, "id must be a string or an integer");
  if (!isRpcError(error)) return bad(value, "error must have an integer code and a message");
  const extra = extraOf(value, 2, id, withError);
  const message = id === undefined || id === null ? { error } : { id, error };
  return extra === undefined ? { kind: "error", ...message } : { kind: "error", ...message, extra };
}

/** An integer that a double cannot hold would come back as another id. */
function isId(id: unknown): id is Id {
  return typeof id === "string" || Number.isSafeInteger(id);
}

function isRpcError(error: unknown): error is RpcError & JsonObject {
  return isObject(error) && Number.isSafeInteger(error["code"]) && typeof error["message"] === "string";
}

const withMethod: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);
const withResult: ReadonlySet<string> = new Set(["jsonrpc", "id", "result"]);
const withError: ReadonlySet<string> = new Set(["jsonrpc", "id", "error"]);

/** The members that are not `named`; `count` says how many of those there are, `id` apart. */
function extraOf(value: JsonObject, count: number, id: unknown, named: ReadonlySet<string>): JsonObject | undefined {
  if (Object.keys(value).length === (id === undefined ? count : count + 1)) return undefined;
  // Not by assignment, which would take `__proto__` for the prototype.
  return Object.fromEntries(Object.entries(value).filter(([name]) => !named.has(name)));
}

function bad(value: JsonObject, message: string, code: FaultCode = "invalid-request"): IncomingBad {
  return { kind: "bad", ...party(value), fault: new Fault(code, message) };
}

/** Whose id a broken message bears: the peer's, ours, or either's. */
function party({ id, method, result, error }: JsonObject): Pick<IncomingBad, "id" | "answers" | "silent"> {
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

/** Who waits for an answer should get one, so the id is looked for without building what is not wanted. */
function whose(text: string): ReturnType<typeof party> {
  try {
    const value: unknown = JSON.parse(shallow(text));
    return isObject(value) ? party(value) : {};
  } catch {
    return {};
  }
}
