import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  CallToolRequestSchema,
  CallToolResponseSchema,
  Content,
  RequestMetaSchema,
  SessionRequestSchema,
  SessionResponseSchema,
} from "../../../src/codec/gen/mcp/v1/mcp_pb.js";
import { type JsonObject, meta } from "../../../src/core/index.js";

type ToolCall = Omit<MessageInitShape<typeof CallToolRequestSchema>, "$typeName">;

// How a client that was compiled against `mcp.proto` says and hears the few messages that these tests need.

export function toolCall(params: JsonObject): ToolCall {
  const { name, arguments: args, inputResponses, requestState } = params;
  return {
    name: String(name),
    arguments: args as never,
    ...metaOf(params),
    ...(inputResponses === undefined ? undefined : { inputResponses: inputResponses as never }),
    ...(requestState === undefined ? undefined : { requestState: String(requestState) }),
  };
}

/** The `_meta` of a modern request. */
export function metaOf({ _meta }: JsonObject): { readonly meta?: MessageInitShape<typeof RequestMetaSchema> } {
  if (_meta === undefined) return {};
  const { [meta.clientCapabilities]: _capabilities, ...extra } = _meta as Record<string, string>;
  return { meta: { extra, clientCapabilities: { elicitation: {}, sampling: {}, roots: {} } } };
}

type ToolAnswer = Pick<
  MessageShape<typeof CallToolResponseSchema>,
  "content" | "isError" | "resultType" | "inputRequests" | "inputRequestsJson" | "requestState"
>;

export function toolResult(answer: ToolAnswer): JsonObject {
  const { content, isError, resultType, inputRequests, inputRequestsJson, requestState } = answer;
  const asked = inputRequestsJson === undefined ? inputRequests : parsed(inputRequestsJson);
  return { content: content.map(textContent), isError, resultType, inputRequests: asked, requestState };
}

function textContent({ content }: Content): JsonObject {
  return { type: "text", text: content.case === "text" ? content.value.text : undefined };
}

/** The frame that says a JSON-RPC message of the client on a `Session`. */
export function toFrame(message: JsonObject): MessageInitShape<typeof SessionRequestSchema> {
  const { id, method, params = {}, result } = message as { id?: number; method?: string; params?: JsonObject; result?: JsonObject };
  const named = id === undefined ? {} : typeof id === "number" ? { messageId: String(id), numericId: true } : { messageId: id };
  if (method === undefined) return { ...named, payload: { case: "generic", value: { resultJson: bytes(result) } } };
  if (id === undefined) return { payload: { case: "generic", value: { method, notification: true } } };
  if (method === "tools/call") return { ...named, payload: { case: "callTool", value: toolCall(params) } };
  if (method === "resources/read")
    return { ...named, payload: { case: "readResource", value: { uri: String(params["uri"]), ...metaOf(params) } } };
  if (method === "ping") return { ...named, payload: { case: "ping", value: {} } };
  const { protocolVersion, clientInfo } = params as { protocolVersion: string; clientInfo: { name: string; version: string } };
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  return { ...named, payload: { case: "initialize", value: { protocolVersion, capabilities, clientInfo } } };
}

/** The JSON-RPC message that a frame of the server says. */
export function ofFrame({ messageId, numericId, inReplyTo, payload }: MessageShape<typeof SessionResponseSchema>): JsonObject {
  const answered = { jsonrpc: "2.0", id: Number(inReplyTo) };
  switch (payload.case) {
    case "callTool":
      return { ...answered, result: toolResult(payload.value) };
    case "initialize":
    case "ping":
      return { ...answered, result: {} };
    case "readResource":
      return { ...answered, result: { contents: payload.value.contents.map(({ content }) => ({ text: content.value })) } };
    case "error":
    case "streamError":
      return { ...answered, error: { code: payload.value.code, message: payload.value.message } };
    case "generic": {
      const { method, paramsJson, resultJson, errorJson } = payload.value;
      if (resultJson !== undefined) return { ...answered, result: parsed(resultJson) };
      if (errorJson !== undefined) return { ...answered, error: parsed(errorJson) };
      const id =
        messageId === undefined || payload.value.notification === true ? {} : { id: numericId === true ? Number(messageId) : messageId };
      return { jsonrpc: "2.0", ...id, method, ...(paramsJson === undefined ? undefined : { params: parsed(paramsJson) }) };
    }
    default:
      return { jsonrpc: "2.0", method: `frame of ${payload.case}`, params: { inReplyTo } };
  }
}

export function bytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

export function parsed(json: Uint8Array): JsonObject {
  return JSON.parse(new TextDecoder().decode(json)) as JsonObject;
}

/** All that a message holds as text; JSON in bytes is text too. */
export function shown(message: unknown): string {
  return JSON.stringify(message, function (this: Record<string, unknown>, key, value: unknown) {
    // Not `value`: a Buffer would be an array of numbers there already.
    const member = this[key];
    if (member instanceof Uint8Array) return new TextDecoder().decode(member);
    return typeof member === "bigint" ? String(member) : value;
  });
}
