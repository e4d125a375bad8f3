import { Fault, isObject, type JsonObject, legacyVersions, protoMcpCodes } from "../../core/index.js";
import { setMember } from "../protobuf/index.js";
import { CAPABILITIES } from "./fields.js";

/** The version of these tables. It announces the additions to 1.0. */
export const VERSION = "1.3.0";
const SUPPORTED: readonly string[] = ["1.0.0", VERSION];
/** The JSON-RPC code for a version of proto-mcp that is not supported. */
export const UNSUPPORTED_VERSION: number = protoMcpCodes.unsupportedVersion;

/**
 * Whether the peer knows the additions: it announces their version, and uses one of them. Others may call something else 1.3. Throws if the
 * version is not supported.
 */
export function isFull({ protocolVersion: version, mcpVersion, probe }: JsonObject): boolean {
  const [, minor] = /^1\.(\d{1,9})(?:\.|$)/.exec(typeof version === "string" ? version : "") ?? [];
  if (minor !== undefined) return Number(minor) >= 3 && (mcpVersion !== undefined || probe === true);
  throw new Fault("unsupported-version", `proto-mcp ${JSON.stringify(version)} is not supported; supported is 1.x, up to ${VERSION}`, {
    rpcCode: UNSUPPORTED_VERSION,
    data: { supported: SUPPORTED, requested: version },
  });
}

/** What this end can do. Streaming in the sense of the text is that answers may be preceded by notifications. */
const clientCapabilities: JsonObject = { supportsBsrRefs: true, supportsStreaming: true };

/** Whether the params of `initialize` fit an InitializeRequest. */
export function isHandshake(params: JsonObject): boolean {
  return typeof params["protocolVersion"] === "string" && !reserved.some((name) => name in params);
}

const reserved: readonly string[] = ["mcpVersion", "mcpCapabilities", "metadata", "probe"];

/** Params of `initialize` as an InitializeRequest. */
export function requestToWire({ protocolVersion, capabilities, ...rest }: JsonObject, encodings: readonly string[]): JsonObject {
  return {
    protocolVersion: VERSION,
    capabilities: { ...clientCapabilities, encodings },
    metadata: named(rest["clientInfo"]),
    mcpVersion: protocolVersion,
    mcpCapabilities: capabilities,
    ...rest,
  };
}

/** The question what a peer speaks, which begins no session. */
export function probeToWire({ info, credentials }: JsonObject, encodings: readonly string[]): JsonObject {
  const metadata = isObject(credentials) ? { ...credentials, ...named(info) } : named(info);
  return { protocolVersion: VERSION, capabilities: { ...clientCapabilities, encodings }, metadata, probe: true };
}

export function requestFromWire({ protocolVersion, capabilities, metadata, mcpVersion, mcpCapabilities, ...rest }: JsonObject): JsonObject {
  if (mcpVersion !== undefined)
    return defined({ protocolVersion: mcpVersion, capabilities: mcpCapabilities, ...rest, _meta: withOthers(rest["_meta"], metadata) });
  return {
    protocolVersion: legacyVersions[0],
    capabilities: {},
    clientInfo: infoIn(metadata, protocolVersion),
    _meta: { ...othersIn(metadata), [CAPABILITIES]: capabilities ?? {} },
  };
}

/** A result of `initialize` as an InitializeResponse. */
export function resultToWire({ protocolVersion, capabilities, ...rest }: JsonObject): JsonObject {
  const can = isObject(capabilities) ? capabilities : {};
  const lists = (name: string): JsonObject | undefined => {
    const value = can[name];
    return isObject(value) ? { supportsListChanged: value["listChanged"] === true } : undefined;
  };
  const { resources } = can;
  return {
    protocolVersion: VERSION,
    capabilities: defined({
      supportsBsrRefs: true,
      supportsStreaming: true,
      tools: lists("tools"),
      resources: isObject(resources) ? { supportsSubscribe: resources["subscribe"] === true, ...lists("resources") } : undefined,
      prompts: lists("prompts"),
    }),
    metadata: named(rest["serverInfo"]),
    mcpVersion: protocolVersion,
    mcpCapabilities: capabilities,
    ...rest,
  };
}

/** A base server has no prompts and reports no changes, whatever it announces. */
export function resultFromWire({ protocolVersion, capabilities, metadata, mcpVersion, mcpCapabilities, ...rest }: JsonObject): JsonObject {
  if (mcpVersion !== undefined)
    return defined({ protocolVersion: mcpVersion, capabilities: mcpCapabilities, ...rest, _meta: withOthers(rest["_meta"], metadata) });
  const can = isObject(capabilities) ? capabilities : {};
  const silent = can["tools"] === undefined && can["resources"] === undefined;
  return {
    protocolVersion: legacyVersions[0],
    capabilities: defined({
      tools: silent || can["tools"] !== undefined ? {} : undefined,
      resources: silent || can["resources"] !== undefined ? {} : undefined,
    }),
    serverInfo: infoIn(metadata, protocolVersion),
    _meta: { ...othersIn(metadata), [CAPABILITIES]: can },
  };
}

/** Name and version as the metadata of a peer. */
function named(info: unknown): JsonObject | undefined {
  if (!isObject(info)) return undefined;
  const { name, version } = info;
  return typeof name === "string" && typeof version === "string" ? { name, version } : undefined;
}

function infoIn(metadata: unknown, version: unknown): JsonObject {
  const said = isObject(metadata) ? metadata : {};
  return { name: said["name"] ?? "proto-mcp", version: said["version"] ?? version };
}

function othersIn(metadata: unknown): JsonObject {
  if (!isObject(metadata)) return {};
  const { name, version, ...others } = metadata;
  return others;
}

/** `_meta` with the metadata that a peer of 1.3 gives besides its name and version: a token, a trace id. */
function withOthers(meta: unknown, metadata: unknown): unknown {
  const others = othersIn(metadata);
  if (Object.keys(others).length === 0) return meta;
  return isObject(meta) ? { ...others, ...meta } : (meta ?? others);
}

function defined(object: JsonObject): JsonObject {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(object)) if (object[name] !== undefined) setMember(kept, name, object[name]);
  return kept;
}
