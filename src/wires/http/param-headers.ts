import { ExactNumber, isObject, jsonText } from "../../core/index.js";

/** A tool argument that a header mirrors: the header's name and the path of the argument. */
export interface ParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const primitive: ReadonlySet<unknown> = new Set(["integer", "string", "boolean"]);

/** The arguments of a tool that headers mirror, or what is wrong with their annotations. */
export function paramHeaders(schema: unknown): readonly ParamHeader[] | { readonly invalid: string } {
  const found: ParamHeader[] = [];
  const invalid = walk(schema, [], true, found, 0);
  if (invalid !== undefined) return { invalid };
  const names = new Set(found.map(({ header }) => header.toLowerCase()));
  return names.size === found.length ? found : { invalid: "two arguments share a header" };
}

function walk(schema: unknown, path: readonly string[], reachable: boolean, found: ParamHeader[], depth: number): string | undefined {
  if (Array.isArray(schema)) return first(schema, (each) => walk(each, path, false, found, depth + 1));
  if (!isObject(schema) || depth > 64) return undefined;
  if (Object.hasOwn(schema, "x-mcp-header")) {
    const header = schema["x-mcp-header"];
    if (typeof header !== "string" || !token.test(header)) return `x-mcp-header ${jsonText(header)} is no header name`;
    if (!reachable || path.length === 0) return `x-mcp-header ${header} stands where no argument is surely found`;
    if (!primitive.has(schema["type"])) return `x-mcp-header ${header} is on an argument that is no integer, string or boolean`;
    found.push({ header: `mcp-param-${header.toLowerCase()}`, path });
  }
  return first(Object.entries(schema), ([key, value]) => {
    if (key === "properties" && isObject(value))
      return first(Object.entries(value), ([name, property]) => walk(property, [...path, name], reachable, found, depth + 1));
    return isObject(value) || Array.isArray(value) ? walk(value, path, false, found, depth + 1) : undefined;
  });
}

function first<T>(values: readonly T[], f: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const result = f(value);
    if (result !== undefined) return result;
  }
  return undefined;
}

/** The value at a path of the arguments; undefined if there is none to mirror. */
export function argumentAt(args: unknown, path: readonly string[]): string | number | boolean | ExactNumber | undefined {
  let value: unknown = args;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value instanceof ExactNumber) return value;
  return undefined;
}
