import { isObject, type JsonObject } from "../core/index.js";
import { own } from "./keys.js";

/** A discover or initialize result that also says what this edge can do for an Anywire peer. */
export function withExtensions(result: JsonObject): JsonObject {
  const capabilities = isObject(result["capabilities"]) ? result["capabilities"] : {};
  const extensions = isObject(capabilities["extensions"]) ? capabilities["extensions"] : {};
  return { ...result, capabilities: { ...capabilities, extensions: { ...extensions, [own.window]: {} } } };
}

/** The same without: they are about one link, and end with it. */
export function withoutExtensions(result: JsonObject): JsonObject {
  const capabilities = result["capabilities"];
  if (!isObject(capabilities) || !isObject(capabilities["extensions"])) return result;
  const { [own.window]: window, ...others } = capabilities["extensions"];
  if (window === undefined) return result;
  const { extensions, ...rest } = capabilities;
  return { ...result, capabilities: Object.keys(others).length > 0 ? { ...rest, extensions: others } : rest };
}
