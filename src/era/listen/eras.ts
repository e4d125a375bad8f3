import { type Era, legacyVersions, modernVersions } from "../../core/index.js";

/** What a link serves unless it is told otherwise. */
export const EITHER: readonly Era[] = ["legacy", "modern"];
const ALL = listVersions(EITHER);

/** The protocol versions of some eras, the newest first. */
export function versionsOf(eras: readonly Era[]): readonly string[] {
  return eras === EITHER ? ALL : listVersions(eras);
}

function listVersions(eras: readonly Era[]): readonly string[] {
  return [...(eras.includes("modern") ? modernVersions : []), ...(eras.includes("legacy") ? legacyVersions : [])];
}
