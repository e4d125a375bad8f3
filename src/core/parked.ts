/**
 * Notification that releases what an edge keeps for a next request that will not come: a `requestState`, or the `cursor` of a list's
 * `method`. A peer that does not know it ignores it, and what it keeps expires.
 */
export const RELEASE = "notifications/dev.anywire/release";

/** The prefix of a `requestState` that an edge made for a call it keeps. Only that edge can resume the call. */
export const KEPT_STATE = "aw1.";

/** Whether a `requestState` was made by an Anywire end. */
export function isKeptState(state: unknown): state is string {
  return typeof state === "string" && state.startsWith(KEPT_STATE);
}
