import { isObject, type JsonObject, noParams } from "../core/index.js";
import { anywireKeys } from "./keys.js";

type Extensions = { readonly [name: string]: object };

/** The extensions that this edge offers to an Anywire peer. They are about one link, and are not passed on. */
const ofLink: Extensions = { [anywireKeys.window]: {} };
/** All extensions that Anywire ends exchange. */
const ofAnywire: readonly string[] = [anywireKeys.window, anywireKeys.legacy];

/** A discover or initialize result for an Anywire peer: with the extensions of this edge. */
export function withExtensions(result: JsonObject): JsonObject {
  return extending(result, ofLink);
}

/** A discover result that says that the server is a legacy one. */
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

/** A result without the extensions of its link, to be passed on. */
export function beyondLink(result: JsonObject): JsonObject {
  return without(result, Object.keys(ofLink));
}

/** A result without any of Anywire's extensions, for a peer that is not an Anywire end. */
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
