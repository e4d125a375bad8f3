import { isKeptState, isObject, type JsonObject } from "../core/index.js";
import { own } from "./keys.js";

/** What the maker of a result may keep for a next request, in the terms in which it can be let go of. */
export function keptFor(method: string, result: JsonObject): JsonObject | undefined {
  const { nextCursor, requestState, _meta } = result;
  if (typeof nextCursor === "string") return { method, cursor: nextCursor };
  if (isKeptState(requestState)) return { requestState };
  const range = isObject(_meta) ? _meta[own.range] : undefined;
  return isObject(range) && typeof range["next"] === "string" ? { next: range["next"] } : undefined;
}
