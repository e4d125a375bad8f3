import {
  type Client,
  type Context,
  type Era,
  ExactNumber,
  envelopeMembers,
  extended,
  Fault,
  type Identity,
  isLegacyVersion,
  isModernVersion,
  isObject,
  type JsonObject,
  meta,
  modernVersions,
  noParams,
  type Request,
  traceNames,
  withEnvelopeMembers,
} from "../core/index.js";
import { anywireKeys } from "./keys.js";

/** The `_meta` keys with which a modern request describes its client. */
const modernKeys: ReadonlySet<string> = new Set([meta.protocolVersion, meta.clientInfo, meta.clientCapabilities, meta.logLevel]);
/** The `_meta` keys that belong to one link. */
const ownKeys: ReadonlySet<string> = new Set([
  anywireKeys.peer,
  anywireKeys.caller,
  anywireKeys.bare,
  anywireKeys.window,
  anywireKeys.pageSize,
  anywireKeys.onePage,
  anywireKeys.chunked,
]);
const moved: ReadonlySet<string> = new Set([...traceNames, "progressToken", ...modernKeys, ...ownKeys]);

/**
 * A request's `_meta` taken apart: what the Context holds, and what travels on. All members are always present, so that every envelope has
 * the same shape.
 */
export interface CallEnvelope {
  readonly request: Request;
  /** The protocol version, if the request claims to be modern. */
  readonly version: unknown;
  readonly info: unknown;
  readonly capabilities: unknown;
  readonly logLevel: string | undefined;
  readonly progressToken: string | number | ExactNumber | undefined;
  readonly trace: Readonly<Record<string, string>> | undefined;
  /** Whether the request comes from an Anywire end that asks what this one can do. */
  readonly peer: boolean;
  /** The caller, as named by an Anywire end that speaks for several. */
  readonly caller: RelayedCaller | undefined;
  readonly window: number | undefined;
  readonly pageSize: number | undefined;
  readonly onePage: boolean;
  /** Of a read whose answer may come in parts. */
  readonly chunked: { readonly offset: number; readonly chunkSize?: number } | undefined;
}

/** A caller behind a relay. */
export interface RelayedCaller {
  /** Names the caller on this link. Absent: the caller is known for this call only. */
  readonly key?: string;
  /** The protocol version of the caller itself, if it is a legacy one. */
  readonly version?: string;
}

const none: JsonObject = {};

/** Takes `_meta` apart. */
export function openEnvelope(method: string, params: JsonObject): CallEnvelope {
  const found = isObject(params["_meta"]) ? params["_meta"] : none;
  const token = found["progressToken"];
  const level = found[meta.logLevel];
  const window = found[anywireKeys.window];
  return {
    request: { method, params: found === none ? params : without(params, found, moved) },
    version: found[meta.protocolVersion],
    info: found[meta.clientInfo],
    capabilities: found[meta.clientCapabilities],
    logLevel: typeof level === "string" ? level : undefined,
    progressToken: typeof token === "string" || typeof token === "number" || token instanceof ExactNumber ? token : undefined,
    trace: readTrace(found),
    peer: found[anywireKeys.peer] !== undefined,
    caller: readCaller(found[anywireKeys.caller]),
    window: typeof window === "number" && window > 0 ? window : undefined,
    pageSize: readCount(found[anywireKeys.pageSize]),
    onePage: found[anywireKeys.onePage] === true,
    chunked: readChunked(found[anywireKeys.chunked]),
  };
}

/** The params of a notification without the `_meta` keys that belong to its link. */
export function withoutOwn(params: JsonObject): JsonObject {
  const found = params["_meta"];
  return isObject(found) && Object.keys(found).some((key) => ownKeys.has(key)) ? without(params, found, ownKeys) : params;
}

/** The params of a modern client's notification for a legacy peer. */
export function withoutModern(params: JsonObject): JsonObject {
  const found = params["_meta"];
  return isObject(found) && Object.keys(found).some((key) => modernKeys.has(key)) ? without(params, found, modernKeys) : params;
}

/** The params without these keys of their `_meta`. */
function without(params: JsonObject, found: JsonObject, keys: ReadonlySet<string>): JsonObject {
  const names = Object.keys(found);
  if (names.length === 0) return params;
  const { _meta, ...rest } = params;
  if (found[anywireKeys.bare] === "absent")
    return envelopeMembers(rest) === undefined ? noParams : withEnvelopeMembers(rest, { ...envelopeMembers(rest), params: undefined });
  let left: Record<string, unknown> | undefined;
  for (const key of Object.keys(found)) {
    if (keys.has(key)) continue;
    // Not by assignment, which would set the prototype for the key `__proto__`.
    left ??= {};
    Object.defineProperty(left, key, { value: found[key], enumerable: true, writable: true, configurable: true });
  }
  if (left === undefined && found[anywireKeys.bare] === "meta") left = {};
  return left === undefined ? rest : extended(rest, { _meta: left });
}

function readTrace(found: JsonObject): Readonly<Record<string, string>> | undefined {
  let trace: Record<string, string> | undefined;
  for (const key of traceNames) {
    const value = found[key];
    if (typeof value === "string") (trace ??= {})[key] = value;
  }
  return trace;
}

/** Characters of a caller's key, which is kept for minutes after its call. Anywire's own keys have 36. */
const LONGEST_KEY = 256;

function readCaller(value: unknown): RelayedCaller | undefined {
  if (!isObject(value)) return undefined;
  const { key, version } = value;
  return {
    ...(typeof key === "string" && key.length <= LONGEST_KEY ? { key } : undefined),
    ...(typeof version === "string" && isLegacyVersion(version) ? { version } : undefined),
  };
}

function readCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function readChunked(value: unknown): CallEnvelope["chunked"] {
  if (!isObject(value)) return undefined;
  const chunkSize = readCount(value["chunkSize"]);
  return { offset: readCount(value["offset"]) ?? 0, ...(chunkSize === undefined ? undefined : { chunkSize }) };
}

/** The client of a modern request, or the Fault to answer it with. */
export function modernClient(envelope: CallEnvelope, identity: Identity): Client | Fault {
  const { version, info, capabilities, caller } = envelope;
  if (typeof version !== "string") return new Fault("meta-missing", `_meta["${meta.protocolVersion}"] must be a string`);
  if (!isModernVersion(version))
    return new Fault("unsupported-version", `protocol version ${version} is not supported`, {
      data: { supported: [...modernVersions], requested: version },
    });
  if (!isObject(capabilities)) return new Fault("meta-missing", `_meta["${meta.clientCapabilities}"] is required and must be an object`);
  // Between Anywire ends a modern request may be made for a legacy client.
  const era: Era = caller?.version === undefined ? "modern" : "legacy";
  return { identity, era, protocolVersion: caller?.version ?? version, capabilities, ...(isObject(info) ? { info } : {}) };
}

/** Who sent a notification: the client that it names itself, or else that of the session, or else the link's own. */
export function senderOf(envelope: CallEnvelope, session: Client | undefined, identity: Identity): Client {
  const client = envelope.version === undefined ? session : modernClient(envelope, identity);
  if (client !== undefined && !(client instanceof Fault)) return client;
  return { identity, era: "modern", protocolVersion: modernVersions[0], capabilities: {} };
}

/** What a request carries in addition, for this link only. */
export interface Stamps {
  readonly progressToken: string | number | undefined;
  readonly window: number | undefined;
  readonly pageSize: number | undefined;
  readonly onePage: boolean;
  readonly caller: RelayedCaller | undefined;
  /** Asks an Anywire end what it can do. */
  readonly peer: boolean;
  /** Tells an Anywire end that the request has no params of its own, or an empty `_meta`. */
  readonly bare: "absent" | "meta" | undefined;
}

/** Params for a modern peer: `_meta` gets what the Context holds. */
export function sealModern(request: Request, context: Context, stamps: Stamps): JsonObject {
  const { client, logLevel } = context;
  const sealed = keptMeta(request, context);
  sealed[meta.protocolVersion] = modernVersions[0];
  if (client.info !== undefined) sealed[meta.clientInfo] = client.info;
  sealed[meta.clientCapabilities] = client.capabilities;
  if (logLevel !== undefined) sealed[meta.logLevel] = logLevel;
  stamp(sealed, stamps);
  return extended(request.params, { _meta: sealed });
}

/** Params for a legacy peer, which knows only the progress token in `_meta`. An Anywire peer also gets Anywire's own keys. */
export function sealLegacy(request: Request, context: Context, stamps: Stamps): JsonObject {
  const { progressToken, window, pageSize, onePage, caller, peer } = stamps;
  const none = progressToken === undefined && window === undefined && pageSize === undefined && !onePage && caller === undefined && !peer;
  if (none && context.trace === undefined) return request.params;
  const sealed = keptMeta(request, context);
  stamp(sealed, stamps);
  return extended(request.params, { _meta: sealed });
}

function keptMeta(request: Request, context: Context): Record<string, unknown> {
  const kept = request.params["_meta"];
  return extended(isObject(kept) ? kept : undefined, context.trace);
}

function stamp(sealed: Record<string, unknown>, { progressToken, window, pageSize, onePage, caller, peer, bare }: Stamps): void {
  if (bare !== undefined) sealed[anywireKeys.bare] = bare;
  if (peer) sealed[anywireKeys.peer] = {};
  if (caller !== undefined) sealed[anywireKeys.caller] = caller;
  if (progressToken !== undefined) sealed["progressToken"] = progressToken;
  if (window !== undefined) sealed[anywireKeys.window] = window;
  if (pageSize !== undefined) sealed[anywireKeys.pageSize] = pageSize;
  if (onePage) sealed[anywireKeys.onePage] = true;
}
