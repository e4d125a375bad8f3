import type { IncomingRequest } from "../../codec/index.js";
import { Fault, isObject, type JsonObject, meta } from "../../core/index.js";
import type { Exchange } from "../../io/index.js";
import { decodeBase64, encodeBase64 } from "../../stream/index.js";

const named: Readonly<Record<string, string>> = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };

/** The member of a request's params that its `Mcp-Name` header mirrors. */
export function nameOf(method: string, params: JsonObject): string | undefined {
  const value = Object.hasOwn(named, method) ? params[named[method] as string] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** Checks that the headers of a modern request say what its body says; the body is the truth. */
export function checkHeaders(exchange: Exchange, { method, params }: IncomingRequest): Fault | undefined {
  const envelope = isObject(params["_meta"]) ? params["_meta"] : {};
  return (
    mirrors("MCP-Protocol-Version", exchange.header("mcp-protocol-version"), envelope[meta.protocolVersion]) ??
    mirrors("Mcp-Method", exchange.header("mcp-method"), method) ??
    (Object.hasOwn(named, method) ? mirrorsEncoded("Mcp-Name", exchange.header("mcp-name"), nameOf(method, params)) : undefined)
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
  const same = typeof body === "number" ? Number(value) === body && value.trim() !== "" : value === String(body);
  return same ? undefined : mismatch(`the header ${name} does not say what the body says`);
}

const sentinel = /^=\?base64\?(.*)\?=$/s;

/** A value as a header carries it: as it is where that is safe, else in base64. */
export function encodeHeader(value: string): string {
  const plain = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(value) || value === "";
  return plain && !sentinel.test(value) ? value : `=?base64?${encodeBase64(new TextEncoder().encode(value))}?=`;
}

/** The value that a header carries; undefined where it is not well encoded. */
export function decodeHeader(header: string): string | undefined {
  const encoded = sentinel.exec(header)?.[1];
  if (encoded === undefined) return /^[\x20-\x7e\t]*$/.test(header) ? header : undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(decodeBase64(encoded));
  } catch {
    return undefined;
  }
}
