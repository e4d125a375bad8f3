import { Fault, isObject, type JsonObject, meta } from "../../core/index.js";
import { firstOf, type Metadata } from "../../io/index.js";
import { header } from "./names.js";

/** Characters of a name up to which it is mirrored: proxies take few KiB of headers, and some leave the connection over more. */
const NAME = 2048;

/** Metadata, and with it what of a request routers may see. */
export function withMirror(metadata: Metadata, method: string, params: JsonObject, version: string | undefined): Metadata {
  const name = nameOf(params);
  // Assigned one by one: a second spread takes longer than all the rest.
  const mirrored: Record<string, string | readonly string[]> = { ...metadata };
  mirrored[header.method] = method;
  if (version !== undefined) mirrored[header.version] = version;
  if (name !== undefined && name.length <= NAME) mirrored[header.name] = encoded(name);
  const said = params["_meta"];
  if (isObject(said)) {
    for (const key of traces) {
      const value = said[key];
      if (typeof value === "string" && printable.test(value)) mirrored[key] = value;
    }
  }
  return mirrored;
}

/** Trace context, which meshes read in metadata, and a server of the base has no other place for. */
export const traces = ["traceparent", "tracestate", "baggage"] as const;
const printable = /^[\x20-\x7e]{1,8192}$/;

/** Throws where metadata and body say different things: a router would have been led astray. */
export function checkMirror(metadata: Metadata, method: string, params: JsonObject): void {
  const said = firstOf(metadata, header.method);
  if (said !== undefined && said !== method) throw mismatch(header.method, said, method);
  const name = firstOf(metadata, header.name);
  if (name !== undefined && decoded(name) !== nameOf(params)) throw mismatch(header.name, name, nameOf(params));
  const version = firstOf(metadata, header.version);
  const stated = (params["_meta"] as JsonObject | undefined)?.[meta.protocolVersion];
  if (version !== undefined && typeof stated === "string" && version !== stated) throw mismatch(header.version, version, stated);
}

function mismatch(name: string, said: string, body: string | undefined): Fault {
  return new Fault("header-mismatch", `the metadata ${name} says ${JSON.stringify(said)}, the message ${JSON.stringify(body ?? null)}`);
}

function nameOf({ name, uri }: JsonObject): string | undefined {
  if (typeof name === "string") return name;
  return typeof uri === "string" ? uri : undefined;
}

/** Text that is no plain ASCII travels in base64, in the form that the protocol has for its HTTP headers. */
function encoded(text: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?")) return text;
  return `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

function decoded(text: string): string {
  const inner = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/i.exec(text)?.[1];
  return inner === undefined ? text : Buffer.from(inner, "base64").toString("utf8");
}
