import type { JsonObject } from "../../api/index.js";
import { isObject, jsonText } from "../../core/index.js";

/** The value of a text, or the type that it should have had. */
export type Coerced = { readonly value: unknown } | { readonly expected: string };

type TypeName = "null" | "boolean" | "integer" | "number" | "array" | "object" | "string";

/** Tried in this order: a string matches if nothing else does. */
const order: readonly TypeName[] = ["null", "boolean", "integer", "number", "array", "object", "string"];

/** Converts what was given for one property. Several texts are the elements of an array. References are resolved in `root`. */
export function coerce(texts: readonly string[], property: unknown, root: JsonObject): Coerced {
  const schema = resolve(property, root);
  const [only] = texts;
  if (texts.length === 1 && only !== undefined) return one(only, schema, root);
  if (!typesOf(schema, root).has("array")) return { expected: `${describe(schema, root)}, once` };
  return elements(texts, schema, root);
}

function one(text: string, schema: JsonObject, root: JsonObject): Coerced {
  const named = namedValues(schema, root);
  if (named !== undefined) {
    const found = named.findIndex((value) => value === text || jsonText(value) === text);
    return found >= 0 ? { value: named[found] } : { expected: describe(schema, root) };
  }
  const types = typesOf(schema, root);
  // The type is unknown: JSON if the text is valid JSON, otherwise a string.
  if (types.size === 0) return parsed(text) ?? { value: text };
  for (const type of order) {
    const read = types.has(type) ? readers[type](text) : undefined;
    if (read !== undefined) return read;
  }
  // A single element of an array needs no brackets.
  if (types.has("array") && !text.trimStart().startsWith("[")) return elements([text], schema, root);
  return { expected: describe(schema, root) };
}

function elements(texts: readonly string[], schema: JsonObject, root: JsonObject): Coerced {
  const items = resolve(schema["items"], root);
  const values: unknown[] = [];
  for (const text of texts) {
    const element = one(text, items, root);
    if ("expected" in element) return { expected: `array of ${element.expected}` };
    values.push(element.value);
  }
  return { value: values };
}

const readers: Record<TypeName, (text: string) => { readonly value: unknown } | undefined> = {
  null: (text) => (text === "null" ? { value: null } : undefined),
  boolean: (text) => (text === "true" || text === "false" ? { value: text === "true" } : undefined),
  integer: (text) => {
    const read = readers.number(text);
    return Number.isSafeInteger(read?.value) ? read : undefined;
  },
  number: (text) => {
    const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    return Number.isFinite(value) ? { value } : undefined;
  },
  array: (text) => {
    const read = parsed(text);
    return Array.isArray(read?.value) ? read : undefined;
  },
  object: (text) => {
    const read = parsed(text);
    return isObject(read?.value) ? read : undefined;
  },
  string: (text) => ({ value: text }),
};

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Follows references within the schema, up to a limit. */
function resolve(schema: unknown, root: JsonObject): JsonObject {
  let at: unknown = schema;
  for (let steps = 0; isObject(at) && typeof at["$ref"] === "string" && steps < 16; steps++) {
    const path = at["$ref"].startsWith("#/") ? at["$ref"].slice(2).split("/") : [];
    let found: unknown = path.length > 0 ? root : undefined;
    for (const part of path) {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    }
    at = found;
  }
  return isObject(at) ? at : {};
}

function branches(schema: JsonObject, root: JsonObject): JsonObject[] {
  const any = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(any) ? any.map((branch) => resolve(branch, root)) : [];
}

/** The allowed values, if the schema lists them. */
function namedValues(schema: JsonObject, root: JsonObject): readonly unknown[] | undefined {
  if (Array.isArray(schema["enum"])) return schema["enum"];
  if ("const" in schema) return [schema["const"]];
  const all = branches(schema, root).map((branch) => ("const" in branch ? [branch["const"]] : branch["enum"]));
  return all.length > 0 && all.every(Array.isArray) ? all.flat() : undefined;
}

function typesOf(schema: JsonObject, root: JsonObject): ReadonlySet<string> {
  const { type } = schema;
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type.map(String));
  const found = new Set<string>();
  for (const branch of branches(schema, root)) {
    // One level is enough for real schemas, and ends even if references are circular.
    const inner = branch["type"];
    if (typeof inner === "string") found.add(inner);
    else if (Array.isArray(inner)) for (const each of inner) found.add(String(each));
    else return new Set();
  }
  if (found.size === 0 && "properties" in schema) found.add("object");
  if (found.size === 0 && "items" in schema) found.add("array");
  return found;
}

/** The texts that a property accepts, if they are listed. */
export function valueTexts(property: unknown, root: JsonObject): string[] {
  const schema = resolve(property, root);
  const items = schema["type"] === "array" ? resolve(schema["items"], root) : schema;
  const named = namedValues(items, root) ?? (items["type"] === "boolean" ? [true, false] : []);
  return named.map((value) => (typeof value === "string" ? value : jsonText(value)));
}

/** Whether a property has a default. */
export function hasDefault(property: unknown, root: JsonObject): boolean {
  return (isObject(property) && "default" in property) || "default" in resolve(property, root);
}

/** A property's type in words. */
export function describe(property: unknown, root: JsonObject): string {
  const schema = resolve(property, root);
  const named = namedValues(schema, root);
  if (named !== undefined) return `one of ${named.map((value) => (typeof value === "string" ? value : jsonText(value))).join(", ")}`;
  const types = [...typesOf(schema, root)];
  return types.length === 0 ? "anything" : types.join(" or ");
}
