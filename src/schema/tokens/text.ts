import { isObject, type JsonObject } from "../../core/index.js";
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
  return `${about === "" ? "" : `// ${about}\n`}${name}(${typeText(root, root, 0)})`;
}

/** Levels of objects that a signature shows. */
const DEPTH = 5;

function typeText(schema: unknown, root: JsonObject, depth: number): string {
  if (!isObject(schema)) return "any";
  const { $ref, anyOf, oneOf, properties, items } = schema;
  if (typeof $ref === "string") {
    const target = $ref.startsWith("#/") && depth <= DEPTH ? pointed(root, $ref) : undefined;
    return target === undefined ? "object" : typeText(target, root, depth + 1);
  }
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => JSON.stringify(value)).join("|");
  const union = list(anyOf ?? oneOf);
  if (union.length > 0 && !isObject(properties)) return [...new Set(union.map((branch) => typeText(branch, root, depth + 1)))].join("|");
  const types = isObject(properties) ? ["object"] : typesOf(schema);
  return types.length === 0 ? "any" : types.map((type) => named(type, schema, items, root, depth)).join("|");
}

function named(type: string, schema: JsonObject, items: unknown, root: JsonObject, depth: number): string {
  if (type === "integer") return "int";
  if (type === "array") {
    const of = typeText(items, root, depth + 1);
    return of.includes("|") ? `(${of})[]` : `${of}[]`;
  }
  if (type !== "object") return type;
  const properties = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  if (properties.length === 0 || depth > DEPTH)
    return isObject(schema["additionalProperties"]) && depth <= DEPTH
      ? `{[key]: ${typeText(schema["additionalProperties"], root, depth + 1)}}`
      : depth === 0
        ? "{}"
        : "object";
  const required = list(schema["required"]);
  const members = properties.map(([name, property]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const about = isObject(property) ? firstSentence(property["description"], 80) : "";
    return `${key}${required.includes(name) ? "" : "?"}: ${typeText(property, root, depth + 1)}${about === "" ? "" : ` /* ${about} */`}`;
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
  if ($defs === undefined && definitions === undefined) return rest;
  const text = JSON.stringify(rest);
  const kept = (defs: unknown, at: string): unknown => {
    if (!isObject(defs)) return undefined;
    const used = new Set<string>();
    const look = (part: string): void => {
      for (const name of Object.keys(defs))
        if (!used.has(name) && part.includes(JSON.stringify(`#/${at}/${name}`).slice(0, -1))) {
          used.add(name);
          look(JSON.stringify(defs[name]));
        }
    };
    look(text);
    return used.size === 0 ? undefined : Object.fromEntries([...used].map((name) => [name, defs[name]]));
  };
  const [modern, older] = [kept($defs, "$defs"), kept(definitions, "definitions")];
  return {
    ...rest,
    ...(modern === undefined ? undefined : { $defs: modern }),
    ...(older === undefined ? undefined : { definitions: older }),
  };
}
