import type { Era } from "../service.js";

/**
 * The revisions that say different things about errors. Those of the legacy era agree. `draft` is what the drafts for the revision after
 * 2026-07-28 would change: nobody agrees on it with a peer yet, so nothing of it is sent.
 */
export type Revision = "2025-11-25" | "2026-07-28" | "draft";
export const revisions: readonly Revision[] = ["2025-11-25", "2026-07-28", "draft"];

export type PerRevision<T> = Readonly<Record<Revision, T>>;

/** What is spoken with a peer of an era. */
export const revisionOf: Readonly<Record<Era, Revision>> = { legacy: "2025-11-25", modern: "2026-07-28" };
