import { cacheableMethods, extended, isObject, type JsonObject, meta } from "../core/index.js";

/** A result for a modern client: with the members that a legacy server does not know. */
export function withModernMembers(method: string, result: JsonObject, serverInfo: JsonObject | undefined): JsonObject {
  const modern = extended(result);
  if (modern["resultType"] === undefined) modern["resultType"] = "complete";
  if (cacheableMethods.has(method) && modern["resultType"] !== "input_required") {
    if (modern["ttlMs"] === undefined) modern["ttlMs"] = 0;
    if (modern["cacheScope"] === undefined) modern["cacheScope"] = "private";
  }
  if (serverInfo !== undefined) modern["_meta"] = withServerInfo(modern["_meta"], serverInfo);
  return modern;
}

/** The `_meta` of a result, with the server's info unless it has one. What is not an object passes as it is. */
export function withServerInfo(kept: unknown, serverInfo: JsonObject): unknown {
  if (kept !== undefined && (!isObject(kept) || kept[meta.serverInfo] !== undefined)) return kept;
  return extended(kept, { [meta.serverInfo]: serverInfo });
}

/** A result for a legacy client: without the members that its revision does not have. */
export function withoutModernMembers(method: string, result: JsonObject): JsonObject {
  let plain = result;
  if (plain["resultType"] === "complete") {
    const { resultType, ...rest } = plain;
    plain = rest;
  }
  if (cacheableMethods.has(method) && (plain["ttlMs"] !== undefined || plain["cacheScope"] !== undefined)) {
    const { ttlMs, cacheScope, ...rest } = plain;
    plain = rest;
  }
  const kept = plain["_meta"];
  if (isObject(kept) && kept[meta.serverInfo] !== undefined) {
    const { [meta.serverInfo]: info, ...others } = kept;
    const { _meta, ...rest } = plain;
    plain = Object.keys(others).length > 0 ? extended(rest, { _meta: others }) : rest;
  }
  return plain;
}
