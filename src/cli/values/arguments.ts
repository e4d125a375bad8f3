import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { JsonObject } from "../../api/index.js";
import { isObject, toFault } from "../../core/index.js";
import { codeOf } from "../../stream/index.js";
import { nearest, suggestion } from "../args/nearest.js";
import { misuse } from "../session/mistake.js";
import { coerce, describe, hasDefault } from "./coerce.js";
import { pairsOf } from "./pairs.js";

/** The object given by `--args`: JSON, `@file`, or `-` for stdin. */
export async function givenArguments(option: string): Promise<JsonObject> {
  const [source, from] =
    option === "-"
      ? [await text(process.stdin), "stdin"]
      : option.startsWith("@")
        ? [await fileText(option.slice(1)), option.slice(1)]
        : [option, ""];
  const where = from === "" ? "--args" : `--args: ${from}`;
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw misuse(`${where} is not JSON: ${toFault(error).message}`);
  }
  if (!isObject(value)) throw misuse(`${where} must be a JSON object, such as '{"key": 1}'`);
  return value;
}

async function fileText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw misuse(`--args: cannot read ${path} (${codeOf(error)})`);
  }
}

/** Converts `key=value` words by a tool's input schema. */
export function typedArguments(words: readonly string[], schema: JsonObject): JsonObject {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const names = Object.keys(properties);
  // A schema may allow names that it does not list, but on a command line such a name is usually a typo.
  const open = names.length === 0 || schema["additionalProperties"] === true || isObject(schema["additionalProperties"]);
  const entries: [string, unknown][] = [];
  for (const [key, texts] of pairsOf(words)) {
    const known = Object.hasOwn(properties, key);
    if (!known && !open)
      throw misuse(`the tool has no argument ${key}${suggestion(nearest(key, names)) || `; it has ${names.join(", ")}`}`);
    const property = known ? properties[key] : schema["additionalProperties"];
    const coerced = coerce(texts, property, schema);
    if ("expected" in coerced)
      throw misuse(`${key}: expected ${coerced.expected}, got ${JSON.stringify(texts.length === 1 ? texts[0] : texts)}`);
    entries.push([key, coerced.value]);
  }
  return Object.fromEntries(entries);
}

/**
 * The names that must be given. Some libraries list a property as required although it has a default, because their servers fill it in.
 */
export function requiredNames(schema: JsonObject): string[] {
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return required.filter((name) => !hasDefault(properties[name], schema));
}

/** Throws an error that names the required arguments that are missing. */
export function checkRequired(args: JsonObject, schema: JsonObject): void {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const lacking = requiredNames(schema).filter((name) => !Object.hasOwn(args, name));
  if (lacking.length === 0) return;
  throw misuse(`missing ${lacking.map((name) => `${name}=<${describe(properties[name], schema)}>`).join(" ")}`);
}
