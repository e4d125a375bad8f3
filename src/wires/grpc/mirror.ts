import { encodeHeader, headerSays } from "../../codec/index.js";
import { Fault, type JsonObject, statedVersion, traceHeaders } from "../../core/index.js";
import { firstOf } from "../../io/grpc/portable.js";
import type { Metadata } from "../../io/index.js";
import { header } from "./names.js";

/** Longest name that is mirrored: proxies accept few KiB of headers, and some close the connection over more. */
const NAME = 2048;

/** The metadata of a call, with the parts of the request that routers may see. */
export function withMirror(metadata: Metadata, method: string, params: JsonObject, version: string | undefined): Metadata {
  const name = nameOf(params);
  // Assigned one by one: a second spread takes longer than everything else here.
  const mirrored: Record<string, string | readonly string[]> = { ...metadata };
  mirrored[header.method] = encodeHeader(method);
  if (version !== undefined) mirrored[header.version] = version;
  if (name !== undefined && name.length <= NAME) mirrored[header.name] = encodeHeader(name);
  const trace = traceHeaders(params);
  return trace === undefined ? mirrored : Object.assign(mirrored, trace);
}

/** Throws if the metadata and the body differ, because a router would have been misled. */
export function checkMirror(metadata: Metadata, method: string, params: JsonObject): void {
  const said = firstOf(metadata, header.method);
  if (said !== undefined && said !== encodeHeader(method)) throw mismatch(header.method, said, method);
  const name = firstOf(metadata, header.name);
  const body = nameOf(params);
  if (name !== undefined && (body === undefined || !headerSays(name, body))) throw mismatch(header.name, name, body);
  const version = firstOf(metadata, header.version);
  const stated = statedVersion(params);
  if (version !== undefined && typeof stated === "string" && version !== stated) throw mismatch(header.version, version, stated);
}

function mismatch(name: string, said: string, body: string | undefined): Fault {
  return new Fault("header-mismatch", `the metadata ${name} says ${JSON.stringify(said)}, the message ${JSON.stringify(body ?? null)}`);
}

function nameOf({ name, uri }: JsonObject): string | undefined {
  if (typeof name === "string") return name;
  return typeof uri === "string" ? uri : undefined;
}
