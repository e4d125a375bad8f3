import { bothEras, type Era, legacyVersions, modernVersions } from "../../core/index.js";

const ALL = listVersions(bothEras);

/** The protocol versions of some eras, the newest first. */
export function versionsOf(eras: readonly Era[]): readonly string[] {
  return eras === bothEras ? ALL : listVersions(eras);
}

function listVersions(eras: readonly Era[]): readonly string[] {
  return [...(eras.includes("modern") ? modernVersions : []), ...(eras.includes("legacy") ? legacyVersions : [])];
}
