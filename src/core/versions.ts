import { isObject, type JsonObject } from "./json.js";
import { meta } from "./methods.js";
import type { Era } from "./service.js";

/** Newest first. */
export const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const modernVersions = ["2026-07-28"] as const;

export const newest: Record<Era, string> = { modern: modernVersions[0], legacy: legacyVersions[0] };

/** What a legacy client over HTTP speaks that does not say so, by the specification. */
export const UNSTATED_VERSION = "2025-03-26";

export function isLegacyVersion(version: string): boolean {
  return legacyVersions.some((each) => each === version);
}

export function isModernVersion(version: string): boolean {
  return modernVersions.some((each) => each === version);
}

/** The version that a request names in its `_meta`, whatever it put there. Only modern requests do that. */
export function statedVersion(params: JsonObject | undefined): unknown {
  const found = params?.["_meta"];
  return isObject(found) ? found[meta.protocolVersion] : undefined;
}

/** Whether a request says that it is modern. Which version it names, and whether that is one of ours, is checked later. */
export function isModernRequest(params: JsonObject | undefined): boolean {
  return statedVersion(params) !== undefined;
}

/**
 * The era to answer a request in, where `eras` are served: by the version that it states itself, or else by that of its
 * `MCP-Protocol-Version` header.
 */
export function eraOfRequest(stated: unknown, eras: readonly Era[], header?: string): Era {
  if (!eras.includes("modern")) return "legacy";
  return stated !== undefined || (header !== undefined && isModernVersion(header)) ? "modern" : "legacy";
}

/** The era to refuse a request in whose body was not read: modern, unless the header names a legacy version. */
export function eraOfRefusal(eras: readonly Era[], header: string | undefined): Era {
  return eras.includes("modern") && (header === undefined || !isLegacyVersion(header)) ? "modern" : "legacy";
}

/** Only 2025-03-26 has batches. */
export function hasBatches(version: string | undefined): boolean {
  return version === "2025-03-26";
}

/** Whether a client takes events without data, and comes back for a stream whose connection was let go: from 2025-11-25 on. */
export function comesBackToStreams(version: string | undefined): boolean {
  return (version ?? "") >= "2025-11-25";
}
