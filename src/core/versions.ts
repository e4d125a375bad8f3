import { isObject, type JsonObject } from "./json.js";
import { meta } from "./methods.js";
import type { Era } from "./service.js";

/** The eras that a listener serves unless its options say otherwise. */
export const bothEras: readonly Era[] = ["legacy", "modern"];

/** Newest first. */
export const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const modernVersions = ["2026-07-28"] as const;

export const newestVersions: Record<Era, string> = { modern: modernVersions[0], legacy: legacyVersions[0] };

/** The version of a legacy HTTP client that does not state one, according to the specification. */
export const UNSTATED_VERSION = "2025-03-26";

export function isLegacyVersion(version: string): boolean {
  return legacyVersions.some((each) => each === version);
}

export function isModernVersion(version: string): boolean {
  return modernVersions.some((each) => each === version);
}

/** The version that a request names in its `_meta`, of any type. Only modern requests name one. */
export function statedVersion(params: JsonObject | undefined): unknown {
  const found = params?.["_meta"];
  return isObject(found) ? found[meta.protocolVersion] : undefined;
}

/** Whether a request says that it is modern. Whether its version is supported is checked later. */
export function isModernRequest(params: JsonObject | undefined): boolean {
  return statedVersion(params) !== undefined;
}

/**
 * The era in which to answer a request, if one of `eras` is served: by the version that the request states, or else by that of its
 * `MCP-Protocol-Version` header.
 */
export function eraOfRequest(stated: unknown, eras: readonly Era[], header?: string): Era {
  if (!eras.includes("modern")) return "legacy";
  return stated !== undefined || (header !== undefined && isModernVersion(header)) ? "modern" : "legacy";
}

/** The era in which to refuse a request whose body was not read: modern, unless the header names a legacy version. */
export function eraOfRefusal(eras: readonly Era[], header: string | undefined): Era {
  return eras.includes("modern") && (header === undefined || !isLegacyVersion(header)) ? "modern" : "legacy";
}

/** Only 2025-03-26 has batches. */
export function hasBatches(version: string | undefined): boolean {
  return version === "2025-03-26";
}

/** Whether a client accepts events without data, and comes back to a stream whose connection was closed: from 2025-11-25 on. */
export function comesBackToStreams(version: string | undefined): boolean {
  return (version ?? "") >= "2025-11-25";
}
