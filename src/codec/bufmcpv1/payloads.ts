import { extended, INVALID_ARGUMENTS, isObject, type JsonObject, rpcCodes } from "../../core/index.js";
import { setMember, type Table } from "../protobuf/index.js";
import { blockFromWire, blocksFromWire, blocksToWire, blockToWire } from "./content.js";
import { tableOf } from "./dialect.js";
import { TOOL_ERROR, VALIDATION_FAILED } from "./fields.js";
import { isHandshake, requestFromWire, resultFromWire, resultToWire } from "./handshake.js";

/** A payload of MCPMessage: its number, its message, and the conversion if that differs from the JSON object. */
export interface Payload {
  readonly number: number;
  readonly table: Table;
  /** Whether it can express this object. */
  readonly takes?: (value: JsonObject) => boolean;
  readonly to?: (value: JsonObject, full: boolean) => JsonObject;
  readonly from?: (value: JsonObject, full: boolean) => JsonObject;
  /** Whether it is an addition to the base. */
  readonly added: boolean;
}

type Change = Pick<Payload, "to" | "from" | "takes">;

const payload = (number: number, name: string, change: Change = {}): Payload => ({
  number,
  table: tableOf(name),
  added: number >= 100,
  ...change,
});

const initialize: Change = { takes: isHandshake, from: requestFromWire };
const initialized: Change = { takes: isHandshake, to: resultToWire, from: resultFromWire };
const called: Change = { to: toolResultToWire, from: toolResultFromWire, takes: (result) => !("success" in result || "error" in result) };
const prompt: Change = {
  to: (result, full) => withMessages(result, (content) => blockToWire(content, full)),
  from: (result, full) => withMessages(result, (content) => blockFromWire(content, full)),
};

/** Requests with a payload of their own, by method. */
export const requests: ReadonlyMap<string, Payload> = new Map([
  ["initialize", payload(2, "InitializeRequest", initialize)],
  ["tools/list", payload(4, "ListToolsRequest")],
  ["tools/call", payload(6, "CallToolRequest")],
  ["resources/list", payload(8, "ListResourcesRequest")],
  ["resources/read", payload(10, "ReadResourceRequest")],
  ["prompts/list", payload(103, "ListPromptsRequest")],
  ["prompts/get", payload(105, "GetPromptRequest")],
  ["resources/templates/list", payload(107, "ListResourceTemplatesRequest")],
  ["completion/complete", payload(109, "CompleteRequest")],
]);

/** Results with a payload of their own, by the method they answer. */
export const results: ReadonlyMap<string, Payload> = new Map([
  ["initialize", payload(3, "InitializeResponse", initialized)],
  ["tools/list", payload(5, "ListToolsResponse")],
  ["tools/call", payload(7, "CallToolResponse", called)],
  ["resources/list", payload(9, "ListResourcesResponse")],
  ["resources/read", payload(11, "ReadResourceResponse")],
  ["prompts/list", payload(104, "ListPromptsResponse")],
  ["prompts/get", payload(106, "GetPromptResponse", prompt)],
  ["resources/templates/list", payload(108, "ListResourceTemplatesResponse")],
  ["completion/complete", payload(110, "CompleteResponse")],
]);

export const notifications: ReadonlyMap<string, Payload> = new Map([
  ["notifications/progress", payload(101, "ProgressNotification")],
  ["notifications/cancelled", payload(102, "CancelledNotification")],
]);

export const ERROR: Payload = payload(12, "ErrorResponse");
/** The code of a tool's `Error` that has none of its own. */
const TOOL_FAILED = rpcCodes.internal;
/** The payload for any message without one of its own. */
export const JSON_RPC = 100;

/** A payload and its meaning for the receiver. */
export interface Known {
  readonly name: string;
  readonly payload: Payload;
}

function inverse(map: ReadonlyMap<string, Payload>): ReadonlyMap<number, Known> {
  return new Map([...map].map(([name, each]) => [each.number, { name, payload: each }]));
}

export const requestsByNumber: ReadonlyMap<number, Known> = inverse(requests);
export const resultsByNumber: ReadonlyMap<number, Known> = inverse(results);
export const notificationsByNumber: ReadonlyMap<number, Known> = inverse(notifications);

function toolResultToWire(result: JsonObject, full: boolean): JsonObject {
  const { _meta, content } = result;
  const error = result["isError"] === true ? (toolError(result, full) ?? (full ? undefined : saidError(content))) : undefined;
  if (error === undefined) {
    const success: Record<string, unknown> = {};
    for (const name in result)
      if (name !== "_meta") setMember(success, name, name === "content" ? blocksToWire(content, full) : result[name]);
    return _meta === undefined ? { success } : { success, _meta };
  }
  const { [TOOL_ERROR]: _, ...others } = isObject(_meta) ? _meta : {};
  return Object.keys(others).length === 0 ? { error } : { error, _meta: others };
}

/** The `Error` of a failed tool, if the result says no more than that. */
function toolError({ isError, content, _meta, ...rest }: JsonObject, full: boolean): JsonObject | undefined {
  if (
    !isObject(_meta) ||
    !Array.isArray(content) ||
    content.length !== 1 ||
    Object.keys(rest).some((name) => full || name !== "resultType")
  )
    return undefined;
  const error = _meta[TOOL_ERROR];
  const [block] = content;
  if (!isObject(error) || !isObject(block) || Object.keys(block).length !== 2) return undefined;
  return block["type"] === "text" && block["text"] === error["message"] ? error : undefined;
}

/** What a failed tool says, as an `Error`: clients of the base look for no failure in a `success`. Undefined if it says more than text. */
function saidError(content: unknown): JsonObject | undefined {
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const texts = content.map((block) => (isObject(block) && block["type"] === "text" ? block["text"] : undefined));
  if (!texts.every((text) => typeof text === "string")) return undefined;
  const message = texts.join("\n");
  return { code: message.startsWith(INVALID_ARGUMENTS) ? VALIDATION_FAILED : TOOL_FAILED, message };
}

function toolResultFromWire(response: JsonObject, full: boolean): JsonObject {
  const { success, error } = response;
  // Members are taken over one by one: of what has nothing else, taking the rest apart costs more than all of this.
  const rest: Record<string, unknown> = {};
  for (const name in response) if (name !== "success" && name !== "error") setMember(rest, name, response[name]);
  if (isObject(error)) {
    const meta = isObject(rest["_meta"]) ? rest["_meta"] : {};
    return { ...rest, content: [{ type: "text", text: error["message"] }], isError: true, _meta: { ...meta, [TOOL_ERROR]: error } };
  }
  if (!isObject(success)) return { content: [], ...rest };
  const { content } = success;
  return content === undefined ? extended(success, rest) : extended(extended(success, { content: blocksFromWire(content, full) }), rest);
}

function withMessages(result: JsonObject, change: (content: JsonObject) => JsonObject): JsonObject {
  const { messages } = result;
  if (!Array.isArray(messages) || !messages.every((each) => isObject(each) && isObject(each["content"]))) return result;
  return { ...result, messages: messages.map((each) => ({ ...each, content: change(each.content as JsonObject) })) };
}
