import { encodeHeader, type OutgoingMessage, type SendOptions } from "../../../codec/index.js";
import { isObject, meta, traceHeaders } from "../../../core/index.js";
import { anywireKeys } from "../../../era/index.js";
import { mirroredName } from "../headers.js";
import { JSON_TYPE, PARTS_TYPE, SSE_TYPE } from "../media-types.js";
import type { ToolHeaders } from "../tool-headers.js";

export interface HeaderOptions {
  readonly session: string | undefined;
  /** The version for messages that do not state one. */
  readonly version: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Headers of this request only. */
  readonly metadata?: SendOptions["metadata"];
  /** The arguments of tool calls that headers mirror. */
  readonly tools: ToolHeaders;
}

/** The headers of a request: those that mirror a modern message, or those of the legacy session. */
export function requestHeaders(message: OutgoingMessage | undefined, options: HeaderOptions): Record<string, string> {
  const headers: Record<string, string> = { accept: `${JSON_TYPE}, ${SSE_TYPE}`, ...options.headers };
  for (const name in options.metadata) headers[name.toLowerCase()] = String(options.metadata[name]);
  if (message !== undefined) headers["content-type"] = JSON_TYPE;
  if (message !== undefined && "method" in message) Object.assign(headers, traceHeaders(message.params));
  const envelope =
    message !== undefined && "method" in message && isObject(message.params?.["_meta"]) ? message.params["_meta"] : undefined;
  // Only an Anywire server is asked for parts.
  if (envelope?.[anywireKeys.chunked] !== undefined) headers["accept"] = `${headers["accept"]}, ${PARTS_TYPE}`;
  const version = envelope?.[meta.protocolVersion];
  if (message !== undefined && "method" in message && typeof version === "string") {
    headers["mcp-protocol-version"] = version;
    headers["mcp-method"] = encodeHeader(message.method);
    const name = mirroredName(message.method, message.params ?? {});
    if (name !== undefined) headers["mcp-name"] = encodeHeader(name);
    if (message.method === "tools/call") Object.assign(headers, options.tools.headers(message.params ?? {}));
    return headers;
  }
  headers["mcp-protocol-version"] = options.version;
  // An `initialize` belongs to no session, even if there was one before.
  const begins = message !== undefined && "method" in message && message.method === "initialize";
  if (options.session !== undefined && !begins) headers["mcp-session-id"] = options.session;
  return headers;
}
