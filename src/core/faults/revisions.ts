import type { Era } from "../service.js";

/**
 * The revisions whose errors differ. All legacy revisions agree. `draft` is what the drafts for the revision after 2026-07-28 would change.
 * No peer can negotiate it yet, so none of it is sent.
 */
export type Revision = "2025-11-25" | "2026-07-28" | "draft";
export const revisions: readonly Revision[] = ["2025-11-25", "2026-07-28", "draft"];

export type PerRevision<T> = Readonly<Record<Revision, T>>;

/** The revision that is spoken with a peer of each era. */
export const revisionOf: Readonly<Record<Era, Revision>> = { legacy: "2025-11-25", modern: "2026-07-28" };
