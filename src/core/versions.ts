import type { Era } from "./service.js";

/** Newest first. */
export const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const modernVersions = ["2026-07-28"] as const;

export const newest: Record<Era, string> = { modern: modernVersions[0], legacy: legacyVersions[0] };

export function isLegacyVersion(version: string): boolean {
  return (legacyVersions as readonly string[]).includes(version);
}

export function isModernVersion(version: string): boolean {
  return (modernVersions as readonly string[]).includes(version);
}
