import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { Fault } from "../../core/index.js";
import { decodeBase64, encodeBase64 } from "../../stream/index.js";
import type { Metadata } from "./types.js";

/** Names that belong to HTTP or to gRPC: callers neither see nor set them. */
const reserved: ReadonlySet<string> = new Set([
  "te",
  "content-type",
  "content-length",
  "grpc-timeout",
  "grpc-encoding",
  "grpc-accept-encoding",
  "grpc-message-type",
  "grpc-status",
  "grpc-message",
  "connection",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** Bytes as the value of a `-bin` name. */
export function binary(octets: Uint8Array): string {
  return encodeBase64(octets).replace(/=+$/, "");
}

/** The bytes of one value of a `-bin` name, padded or not. */
export function fromBinary(value: string): Uint8Array {
  return decodeBase64(value.padEnd(value.length + ((4 - (value.length % 4)) % 4), "="));
}

/** The values of a name, none if it is absent. */
export function valuesOf(metadata: Metadata, name: string): readonly string[] {
  const value = metadata[name];
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

/** The first value of a name. */
export function firstOf(metadata: Metadata, name: string): string | undefined {
  const value = metadata[name];
  return typeof value === "object" ? value[0] : value;
}

/** Received headers or trailers as metadata. `raw` keeps apart repeated values, which Node joins with commas. */
export function receivedMetadata(headers: IncomingHttpHeaders, raw?: readonly string[]): Metadata {
  const metadata: Record<string, string | readonly string[]> = Object.create(null);
  for (const name in headers) {
    if (name.startsWith(":") || reserved.has(name)) continue;
    const value = headers[name];
    if (value === undefined) continue;
    metadata[name] = typeof value === "string" && value.includes(",") ? apart(name, value, raw) : value;
  }
  return metadata;
}

function apart(name: string, joined: string, raw: readonly string[] | undefined): string | readonly string[] {
  // Base64 has no comma, so joined values can be split. The specification also allows peers to send them joined.
  if (name.endsWith("-bin")) return joined.split(/, */);
  if (raw === undefined) return joined;
  const values: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) if (raw[at] === name) values.push(raw[at + 1] ?? "");
  return values.length > 1 ? values : joined;
}

/** Adds metadata to headers that are about to be sent. Throws if it cannot be sent. */
export function addMetadata(headers: OutgoingHttpHeaders, metadata: Metadata | undefined): void {
  for (const name in metadata) {
    const value = metadata[name] as string | readonly string[];
    check(name, value);
    headers[name] = value as string | string[];
  }
}

/** Like addMetadata(), for a list in which names and values alternate. */
export function listMetadata(list: string[], metadata: Metadata | undefined): void {
  for (const name in metadata) {
    const value = metadata[name] as string | readonly string[];
    check(name, value);
    if (typeof value === "string") list.push(name, value);
    else for (const each of value) list.push(name, each);
  }
}

function check(name: string, value: string | readonly string[]): void {
  if (!/^[0-9a-z_.-]+$/.test(name) || reserved.has(name)) throw refused(name, "the name is not allowed");
  const allowed = name.endsWith("-bin") ? /^[0-9A-Za-z+/]*={0,2}$/ : /^[\x20-\x7e]*$/;
  const fine = typeof value === "string" ? allowed.test(value) : value.every((each) => allowed.test(each));
  if (!fine) throw refused(name, "the value has characters that are not allowed");
}

function refused(name: string, why: string): Fault {
  return new Fault("invalid-params", `the metadata ${JSON.stringify(name)} cannot be sent: ${why}`);
}
