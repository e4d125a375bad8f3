import { type Era, legacyVersions, modernVersions } from "../../core/index.js";

/** The eras that a link serves by default. */
export const EITHER: readonly Era[] = ["legacy", "modern"];
const ALL = listVersions(EITHER);

/** The protocol versions of some eras, the newest first. */
export function versionsOf(eras: readonly Era[]): readonly string[] {
  return eras === EITHER ? ALL : listVersions(eras);
}

function listVersions(eras: readonly Era[]): readonly string[] {
  return [...(eras.includes("modern") ? modernVersions : []), ...(eras.includes("legacy") ? legacyVersions : [])];
}
