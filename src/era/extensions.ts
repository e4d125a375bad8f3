import { isObject, type JsonObject, noParams } from "../core/index.js";
import { anywireKeys } from "./keys.js";

type Extensions = { readonly [name: string]: object };

/** What this edge can do for an Anywire peer. It is about one link, and ends with it. */
const ofLink: Extensions = { [anywireKeys.window]: {} };
/** All that an Anywire end may say to another. */
const ofAnywire: readonly string[] = [anywireKeys.window, anywireKeys.legacy];

/** A discover or initialize result for an Anywire peer: it also says what this edge can do. */
export function withExtensions(result: JsonObject): JsonObject {
  return extending(result, ofLink);
}

/** The same of a service whose server is a legacy one. */
export function ofLegacyServer(result: JsonObject): JsonObject {
  return extending(result, { [anywireKeys.legacy]: {} });
}

/** Whether the server behind a service is a legacy one, by its discover result. */
export function isLegacyServer(result: JsonObject): boolean {
  return extensionsOf(result)[anywireKeys.legacy] !== undefined;
}

/** Whether a peer says that it is an Anywire end of the link. */
export function isAnywireLink(result: JsonObject): boolean {
  return extensionsOf(result)[anywireKeys.window] !== undefined;
}

/** A result as it passes on beyond the link. */
export function beyondLink(result: JsonObject): JsonObject {
  return without(result, Object.keys(ofLink));
}

/** A result for a peer that is not an Anywire end, which none of this is for. */
export function forForeignPeer(result: JsonObject): JsonObject {
  return without(result, ofAnywire);
}

function extensionsOf(result: JsonObject): JsonObject {
  const { capabilities } = result;
  return isObject(capabilities) && isObject(capabilities["extensions"]) ? capabilities["extensions"] : {};
}

function extending(result: JsonObject, added: Extensions): JsonObject {
  const capabilities = isObject(result["capabilities"]) ? result["capabilities"] : {};
  return { ...result, capabilities: { ...capabilities, extensions: { ...extensionsOf(result), ...added } } };
}

function without(result: JsonObject, names: readonly string[]): JsonObject {
  const extensions = extensionsOf(result);
  if (!names.some((name) => extensions[name] !== undefined)) return result;
  const others = Object.fromEntries(Object.entries(extensions).filter(([name]) => !names.includes(name)));
  const { extensions: all, ...rest } = isObject(result["capabilities"]) ? result["capabilities"] : noParams;
  return { ...result, capabilities: Object.keys(others).length > 0 ? { ...rest, extensions: others } : rest };
}
