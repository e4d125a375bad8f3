import { cachedText, isObject, type JsonObject, jsonText, listMembers } from "../core/index.js";

const members: readonly string[] = [...listMembers.values()];

/** The JSON of a list's result, assembled from the JSON of its items; undefined for any other message. */
export function listText(message: object): string | undefined {
  if (!("result" in message) || !isObject(message.result)) return undefined;
  const found = message.result;
  const member = members.find((name) => startsFixed(found[name]));
  if (member === undefined) return undefined;
  const { result, ...envelope } = message;
  const { [member]: items, ...rest } = found;
  if (!Array.isArray(items)) return undefined;
  const head = jsonText({ ...envelope, result: rest }).slice(0, -"}}".length);
  return `${head}${head.endsWith("{") ? "" : ","}"${member}":[${items.map(textOf).join(",")}]}}`;
}

function startsFixed(items: unknown): boolean {
  if (!Array.isArray(items)) return false;
  const first: unknown = items[0];
  return typeof first === "object" && first !== null && cachedText(first) !== undefined;
}

function textOf(item: JsonObject): string {
  return cachedText(item) ?? jsonText(item) ?? "null";
}
