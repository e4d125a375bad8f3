import { decodeHeader, encodeHeader, headerSays, type IncomingRequest } from "../../codec/index.js";
import { Fault, isObject, type JsonObject, meta } from "../../core/index.js";
import type { Exchange } from "../../io/index.js";

const named: Readonly<Record<string, string>> = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };

/** The value of a request's params that its `Mcp-Name` header mirrors. */
export function mirroredName(method: string, params: JsonObject): string | undefined {
  const value = Object.hasOwn(named, method) ? params[named[method] ?? ""] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** Checks that the headers of a modern request match its body. */
export function checkHeaders(exchange: Exchange, { method, params }: IncomingRequest): Fault | undefined {
  const envelope = isObject(params["_meta"]) ? params["_meta"] : {};
  return (
    mirrors("MCP-Protocol-Version", exchange.header("mcp-protocol-version"), envelope[meta.protocolVersion]) ??
    // A method that a header can hold unencoded must not be encoded: otherwise it could bypass routers that do not decode.
    mirrors("Mcp-Method", exchange.header("mcp-method"), encodeHeader(method)) ??
    (Object.hasOwn(named, method) ? mirrorsEncoded("Mcp-Name", exchange.header("mcp-name"), mirroredName(method, params)) : undefined)
  );
}

function mismatch(message: string): Fault {
  return new Fault("header-mismatch", message);
}

function mirrors(name: string, header: string | undefined, body: unknown): Fault | undefined {
  if (header === undefined) return mismatch(`the header ${name} is missing`);
  return header === body ? undefined : mismatch(`the header ${name} does not say what the body says`);
}

export function mirrorsEncoded(name: string, header: string | undefined, body: unknown): Fault | undefined {
  if (header === undefined) return mismatch(`the header ${name} is missing`);
  const value = decodeHeader(header);
  if (value === undefined) return mismatch(`the header ${name} is not well encoded`);
  const same = typeof body === "number" ? Number(value) === body && value.trim() !== "" : headerSays(header, String(body));
  return same ? undefined : mismatch(`the header ${name} does not say what the body says`);
}
