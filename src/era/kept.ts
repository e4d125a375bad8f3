import { isKeptState, type JsonObject } from "../core/index.js";

/** What the server may keep for a next request after this result, in the form in which it can be released. */
export function keptFor(method: string, result: JsonObject): JsonObject | undefined {
  const { nextCursor, requestState } = result;
  if (typeof nextCursor === "string") return { method, cursor: nextCursor };
  return isKeptState(requestState) ? { requestState } : undefined;
}
