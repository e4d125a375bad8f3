import { ExactNumber, isObject, type JsonObject } from "../../core/index.js";
import { annotations, assertions, list, typesOf } from "../read/merge.js";
import type { ScalarKind } from "./shape.js";

/** The JSON Schema type of a value. */
export function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof ExactNumber) return Number.isInteger(Number(value.text)) ? "integer" : "number";
  return typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
}

/** Whether null fits a schema, and nothing else. */
export function isNull(schema: JsonObject): boolean {
  const types = typesOf(schema);
  const values = ["const" in schema ? [schema["const"]] : undefined, "enum" in schema ? list(schema["enum"]) : undefined];
  return (
    Object.keys(schema).every((keyword) => !assertions.has(keyword) || ["type", "nullable", "const", "enum"].includes(keyword)) &&
    (types.length === 0 || types.includes("null")) &&
    values.every((each) => each === undefined || each.includes(null)) &&
    (types.join() === "null" || values.some((each) => each?.every((value) => value === null)))
  );
}

/** Whether `type: object` beside a union adds nothing to its branches. */
export function isObjectUnion(schema: JsonObject, keyword: string): boolean {
  return (
    schema["type"] === "object" &&
    list(schema[keyword]).every((branch) => isObject(branch) && (branch["type"] === "object" || "$ref" in branch))
  );
}

/** All values, if every branch is a text from a list. */
export function stringValues(branches: readonly JsonObject[]): string[] | undefined {
  const values: unknown[] = [];
  for (const branch of branches) {
    const said = Object.keys(branch).filter((keyword) => assertions.has(keyword) && !annotations.has(keyword));
    if (!said.every((keyword) => keyword === "type" || keyword === "const" || keyword === "enum")) return undefined;
    if (!("const" in branch || "enum" in branch) || ("const" in branch && "enum" in branch)) return undefined;
    if ("type" in branch && !typesOf(branch).includes("string")) return undefined;
    values.push(...("const" in branch ? [branch["const"]] : list(branch["enum"])));
  }
  return values.every((value) => typeof value === "string") ? (values as string[]) : undefined;
}

const texts = ["minLength", "maxLength", "pattern", "format"];
const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const arrays = [
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
  "minItems",
  "maxItems",
  "uniqueItems",
  "contains",
  "minContains",
  "maxContains",
];
const objects = [
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "required",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
];

/** Keywords that do not apply to values of a kind. */
export const stray: Readonly<Record<ScalarKind | "array" | "object", ReadonlySet<string>>> = {
  string: new Set([...numbers, ...arrays, ...objects]),
  int32: new Set([...texts, ...arrays, ...objects]),
  int64: new Set([...texts, ...arrays, ...objects]),
  double: new Set([...texts, ...arrays, ...objects]),
  bool: new Set([...texts, ...numbers, ...arrays, ...objects]),
  array: new Set([...texts, ...numbers, ...objects]),
  object: new Set([...texts, ...numbers, ...arrays]),
};
