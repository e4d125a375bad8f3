import { isKeptState, type JsonObject } from "../core/index.js";

/** What the maker of a result may keep for a next request, in the terms in which it can be let go of. */
export function keptFor(method: string, result: JsonObject): JsonObject | undefined {
  const { nextCursor, requestState } = result;
  if (typeof nextCursor === "string") return { method, cursor: nextCursor };
  return isKeptState(requestState) ? { requestState } : undefined;
}
