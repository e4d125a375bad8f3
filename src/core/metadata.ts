import { Fault } from "./fault.js";
import { extended, isObject, type JsonObject } from "./json.js";
import type { Context } from "./service.js";

type Metadata = Context["metadata"];

/** Headers that a handler never sees, on any wire. */
const credentials = ["authorization", "proxy-authorization", "cookie", "x-api-key"] as const;

/** Whether a header, or an entry of a message's metadata, says who calls: in any case of letters. */
export function isCredential(name: string): boolean {
  return credentials.some((each) => each.length === name.length && each === name.toLowerCase());
}

/** Headers as a handler may see them: without credentials. */
export function withoutCredentials(metadata: Metadata): Metadata {
  if (credentials.every((name) => metadata[name] === undefined)) return metadata;
  const rest = { ...metadata };
  for (const name of credentials) delete rest[name];
  return rest;
}

/** Names that belong to HTTP, gRPC or MCP. A caller cannot set them. */
const reserved =
  /^(:.*|mcp-.*|(x-)?grpc-.*|connect-.*|anywire-.*|content-(type|length|encoding)|accept|host|connection|te|trailer|transfer-encoding|upgrade|keep-alive|proxy-connection|expect|http2-settings|last-event-id)$/;

/**
 * The headers that go out with a call; undefined for none. Only what a caller of this library gave is sent. In a relay the metadata of a
 * call are the headers of its client, and they are not passed on. Throws for names and values that cannot be sent.
 */
export function outgoingMetadata({ client, metadata }: Context): Metadata | undefined {
  if (client.identity.span !== "self") return undefined;
  let given: Record<string, string | readonly string[]> | undefined;
  for (const name in metadata) {
    const value = metadata[name] as string | readonly string[];
    const lower = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower) || reserved.test(lower)) throw refused(name, "the name is not allowed");
    if (!(typeof value === "string" ? [value] : value).every((each) => /^[\x20-\x7e]*$/.test(each)))
      throw refused(name, "the value has characters that are not allowed");
    (given ??= {})[lower] = value;
  }
  return given;
}

function refused(name: string, why: string): Fault {
  return new Fault("invalid-params", `the metadata ${JSON.stringify(name)} cannot be sent: ${why}`);
}

/** The W3C trace context. It travels in `_meta`, and also in headers and metadata where each call has its own. */
export const traceNames = ["traceparent", "tracestate", "baggage"] as const;

/** Params whose `_meta` has the trace context of the request's headers. The headers win, because proxies on the way add to them. */
export function withTrace(params: JsonObject, header: (name: string) => string | undefined): JsonObject {
  let trace: Record<string, unknown> | undefined;
  for (const name of traceNames) {
    const value = header(name);
    if (value !== undefined) (trace ??= {})[name] = value;
  }
  if (trace === undefined) return params;
  const kept: Record<string, unknown> = { ...(isObject(params["_meta"]) ? params["_meta"] : undefined) };
  // A `tracestate` belongs to the `traceparent` that it came with.
  if (trace["traceparent"] !== undefined) delete kept["tracestate"];
  return extended(params, { _meta: extended(kept, trace) });
}

/** The trace context in a message's `_meta`, as headers. What a header cannot carry is left out. */
export function traceHeaders(params: JsonObject | undefined): Record<string, string> | undefined {
  const found = params?.["_meta"];
  if (!isObject(found)) return undefined;
  let headers: Record<string, string> | undefined;
  for (const name of traceNames) {
    const value = found[name];
    if (typeof value === "string" && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) (headers ??= {})[name] = value;
  }
  return headers;
}
