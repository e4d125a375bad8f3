import { isObject, type JsonObject, jsonText } from "../../core/index.js";
import { list, typesOf } from "../read/merge.js";

/** The part of a tool that a model is shown. */
export interface ShownTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
}

/** The most characters of a sentence in an index. */
const SENTENCE = 120;

/** The first sentence of a description, on one line. */
export function firstSentence(description: unknown, longest: number = SENTENCE): string {
  if (typeof description !== "string") return "";
  const line =
    description
      .trim()
      .split(/\n\s*\n|\n(?=\s*[-*#])/, 1)[0]
      ?.replace(/\s+/g, " ") ?? "";
  const sentence = /^.*?[.!?](?=\s|$)/u.exec(line)?.[0] ?? line;
  return sentence.length > longest ? `${sentence.slice(0, longest - 1).trimEnd()}…` : sentence;
}

/** A line of the index: the name, and what the tool is for. */
export function indexLine({ name, description }: ShownTool): string {
  const about = firstSentence(description);
  return about === "" ? name : `${name}: ${about}`;
}

/** A tool in the form of a TypeScript signature, with first sentences as comments. */
export function signature({ name, description, inputSchema }: ShownTool): string {
  const root = isObject(inputSchema) ? inputSchema : {};
  const about = firstSentence(description);
  return `${about === "" ? "" : `// ${about}\n`}${name}(${typeText(root, { root, left: MOST }, 0)})`;
}

/** Levels of objects that a signature shows, levels of anything, and the schemas that it may have: references make many out of few. */
const [DEPTH, DEEPEST, MOST] = [5, 64, 5_000];

interface Signed {
  readonly root: JsonObject;
  left: number;
}

function typeText(schema: unknown, signed: Signed, depth: number): string {
  if (!isObject(schema) || depth > DEEPEST || --signed.left < 0) return "any";
  const { $ref, anyOf, oneOf, properties, items } = schema;
  if (typeof $ref === "string") {
    const target = $ref.startsWith("#/") && depth <= DEPTH ? pointed(signed.root, $ref) : undefined;
    return target === undefined ? "object" : typeText(target, signed, depth + 1);
  }
  if ("const" in schema) return jsonText(schema["const"]);
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => jsonText(value)).join("|");
  const union = list(anyOf ?? oneOf);
  if (union.length > 0 && !isObject(properties)) return [...new Set(union.map((branch) => typeText(branch, signed, depth + 1)))].join("|");
  const types = isObject(properties) ? ["object"] : typesOf(schema);
  return types.length === 0 ? "any" : types.map((type) => named(type, schema, items, signed, depth)).join("|");
}

function named(type: string, schema: JsonObject, items: unknown, signed: Signed, depth: number): string {
  if (type === "integer") return "int";
  if (type === "array") {
    const of = typeText(items, signed, depth + 1);
    return of.includes("|") ? `(${of})[]` : `${of}[]`;
  }
  if (type !== "object") return type;
  const properties = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  if (properties.length === 0 || depth > DEPTH)
    return isObject(schema["additionalProperties"]) && depth <= DEPTH
      ? `{[key]: ${typeText(schema["additionalProperties"], signed, depth + 1)}}`
      : depth === 0
        ? "{}"
        : "object";
  const required = list(schema["required"]);
  const members = properties.map(([name, property]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const about = isObject(property) ? firstSentence(property["description"], 80) : "";
    return `${key}${required.includes(name) ? "" : "?"}: ${typeText(property, signed, depth + 1)}${about === "" ? "" : ` /* ${about} */`}`;
  });
  return `{${members.join(", ")}}`;
}

function pointed(root: JsonObject, reference: string): unknown {
  let value: unknown = root;
  for (const part of reference.slice(2).split("/")) value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return value;
}

/** What a model needs to call a tool, without the schema of the result and hints for programs. Unused definitions are omitted. */
export function described({ name, description, inputSchema }: ShownTool): JsonObject {
  return {
    name,
    ...(description === undefined ? undefined : { description }),
    ...(inputSchema === undefined ? undefined : { inputSchema: pruned(inputSchema) }),
  };
}

function pruned(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const { $schema, $id, $defs, definitions, ...rest } = schema;
  const used = new Map<string, [string, unknown][]>();
  const seen = new Set<string>();
  const texts = [jsonText(rest)];
  // The definitions that a used one refers to are looked at in their turn.
  for (const text of texts)
    for (const [reference, at = "", name = ""] of text.matchAll(/"#\/(\$defs|definitions)\/((?:[^"\\/]|\\.)*)/g)) {
      if (seen.has(reference)) continue;
      seen.add(reference);
      const [defs, own] = [schema[at], unescaped(name)];
      if (!isObject(defs) || !Object.hasOwn(defs, own)) continue;
      used.set(at, [...(used.get(at) ?? []), [own, defs[own]]]);
      texts.push(jsonText(defs[own]));
    }
  // What has a name of its own may be meant by that.
  if (/"\$(?:anchor|dynamicAnchor|id)":/.test(jsonText([$defs, definitions]))) return schema;
  return { ...rest, ...Object.fromEntries([...used].map(([at, members]) => [at, Object.fromEntries(members)])) };
}

/** A name in a JSON pointer, out of a string of JSON. */
function unescaped(name: string): string {
  const text = String(JSON.parse(`"${name}"`));
  try {
    return decodeURIComponent(text).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return text;
  }
}
