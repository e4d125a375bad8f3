import { isObject, type JsonObject } from "../../core/index.js";
import { pointTo } from "../fault.js";
import type { Place, SchemaSource } from "./source.js";

/** Keywords that do not affect which values are valid. */
export const annotations: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
  "$schema",
  "$id",
  "$anchor",
  "$dynamicAnchor",
  "$defs",
  "definitions",
  "$vocabulary",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
  "example",
]);

/** Keywords that ajv enforces. It ignores unknown ones. */
export const assertions: ReadonlySet<string> = new Set([
  "type",
  "nullable",
  "enum",
  "const",
  "multipleOf",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "format",
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
  "maxItems",
  "minItems",
  "uniqueItems",
  "contains",
  "minContains",
  "maxContains",
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "maxProperties",
  "minProperties",
  "required",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
]);

/** A schema without `$ref` and `allOf` at its top. */
export interface Flat {
  readonly schema: JsonObject;
  readonly pointer: string;
  /** Keywords that could not be merged. They are residual. */
  readonly lost: readonly string[];
}

/** Follows references and merges `allOf`. `true` is the schema {}, `false` one that no value matches. */
export function flatten(place: Place, source: SchemaSource, seen: ReadonlySet<string> = new Set()): Flat {
  source.spend(place.pointer);
  const { schema, pointer } = place;
  if (schema === false) return { schema: { not: {} }, pointer, lost: [] };
  if (!isObject(schema)) return { schema: {}, pointer, lost: [] };
  const reference = schema["$ref"] ?? schema["$dynamicRef"];
  const all = schema["allOf"];
  if (reference === undefined && !Array.isArray(all)) return { schema, pointer, lost: [] };
  const { $ref, $dynamicRef, allOf, ...own } = schema;
  const lost: string[] = [];
  let merged: JsonObject = own;
  const parts: Place[] = Array.isArray(all) ? all.map((each, index) => ({ schema: each, pointer: pointTo(pointer, "allOf", index) })) : [];
  if (reference !== undefined) {
    const target = source.resolve(reference, pointer);
    // A schema that refers only to itself says nothing.
    if (!seen.has(target.pointer)) parts.unshift(target);
  }
  for (const part of parts) {
    const flat = flatten(part, source, new Set([...seen, pointer, part.pointer]));
    lost.push(...flat.lost);
    merged = merge(merged, flat.schema, lost);
  }
  return { schema: merged, pointer, lost };
}

const larger = (one: unknown, other: unknown): unknown => (Number(one) >= Number(other) ? one : other);
const smaller = (one: unknown, other: unknown): unknown => (Number(one) <= Number(other) ? one : other);

/** How to combine two values of a keyword into one that means both. */
const joins: Record<string, (one: unknown, other: unknown) => unknown> = {
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
  required: (one, other) => [...new Set([...list(one), ...list(other)])],
  enum: (one, other) => list(one).filter((value) => list(other).some((each) => same(each, value))),
  type: (one, other) => {
    const types = typeList(one).flatMap((type) =>
      typeList(other).includes(type) || (type === "integer" && typeList(other).includes("number"))
        ? [type]
        : type === "number" && typeList(other).includes("integer")
          ? ["integer"]
          : [],
    );
    return types.length === 0 ? undefined : types.length === 1 ? types[0] : types;
  },
  properties: (one, other) => {
    const joined: Record<string, unknown> = { ...(isObject(one) ? one : {}) };
    for (const [name, schema] of Object.entries(isObject(other) ? other : {}))
      Object.defineProperty(joined, name, {
        value: Object.hasOwn(joined, name) ? { allOf: [joined[name], schema] } : schema,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    return joined;
  },
  uniqueItems: (one, other) => one === true || other === true,
};

function merge(one: JsonObject, other: JsonObject, lost: string[]): JsonObject {
  const merged: Record<string, unknown> = { ...one };
  // An additional property of one may be a declared property of the other.
  for (const closed of ["additionalProperties", "unevaluatedProperties"])
    if (
      closed in one !== closed in other &&
      !(same(one[closed] ?? other[closed], true) || same(one[closed] ?? other[closed], {})) &&
      !sameNames(one, other)
    ) {
      delete merged[closed];
      lost.push(closed);
      other = omit(other, closed);
    }
  for (const [keyword, value] of Object.entries(other)) {
    const mine = merged[keyword];
    if (!Object.hasOwn(merged, keyword) || same(mine, value)) merged[keyword] = value;
    else if (annotations.has(keyword)) continue;
    else {
      const joined = joins[keyword]?.(mine, value);
      if (joined === undefined) lost.push(keyword);
      else merged[keyword] = joined;
    }
  }
  return merged;
}

function sameNames(one: JsonObject, other: JsonObject): boolean {
  const names = (schema: JsonObject): string =>
    Object.keys(isObject(schema["properties"]) ? schema["properties"] : {})
      .sort()
      .join("\n");
  return names(one) === names(other) || names("additionalProperties" in one ? other : one) === "";
}

function omit(schema: JsonObject, keyword: string): JsonObject {
  const { [keyword]: _, ...rest } = schema;
  return rest;
}

export function typeList(type: unknown): string[] {
  return typeof type === "string" ? [type] : Array.isArray(type) ? type.filter((each) => typeof each === "string") : [];
}

/** The types that a schema names. */
export function typesOf(schema: JsonObject): string[] {
  const types = typeList(schema["type"]);
  return types.length > 0 && schema["nullable"] === true && !types.includes("null") ? [...types, "null"] : types;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function same(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
