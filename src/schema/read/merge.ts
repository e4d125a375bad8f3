import { isDeepStrictEqual } from "node:util";
import { ExactNumber, isObject, type JsonObject, schemaLimits } from "../../core/index.js";
import { longReference, pointTo } from "../fault.js";
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
export function flatten(place: Place, source: SchemaSource, seen: readonly string[] = []): Flat {
  source.spend(place.pointer);
  const { pointer } = place;
  const schema = source.understood(place.schema);
  if (schema === false) return { schema: { not: {} }, pointer, lost: [] };
  if (!isObject(schema)) return { schema: {}, pointer, lost: [] };
  const { $ref, $dynamicRef, allOf, ...own } = schema;
  if ($ref === undefined && $dynamicRef === undefined && !Array.isArray(allOf)) return { schema, pointer, lost: [] };
  if (seen.length > 4 * schemaLimits.schemaDepth) throw longReference(pointer);
  const lost: string[] = [];
  let merged: JsonObject = own;
  const parts: Place[] = list(allOf).map((each, index) => ({ schema: each, pointer: pointTo(pointer, "allOf", index) }));
  if ($ref !== undefined) {
    const target = source.resolve($ref, pointer);
    // A schema that refers only to itself says nothing.
    if (!seen.includes(target.pointer)) parts.unshift(target);
  }
  if ($dynamicRef !== undefined) {
    // What it refers to depends on the way by which a validator came here.
    source.resolve($dynamicRef, pointer);
    lost.push("$dynamicRef");
  }
  for (const part of parts) {
    const flat = flatten(part, source, [...seen, pointer, part.pointer]);
    lost.push(...flat.lost);
    merged = merge(merged, flat.schema, lost);
    // Merging copies what is there already.
    source.spend(
      pointer,
      ["properties", "required", "enum"].reduce((sum, keyword) => sum + sizeOf(merged[keyword]) / 8, 0),
    );
  }
  return { schema: merged, pointer, lost };
}

function sizeOf(value: unknown): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

type Join = (one: unknown, other: unknown) => unknown;

const numeric =
  (choose: (one: number, other: number) => number): Join =>
  (one, other) =>
    typeof one === "number" && typeof other === "number" ? choose(one, other) : undefined;
const [larger, smaller] = [numeric(Math.max), numeric(Math.min)];

/** How to combine two values of a keyword into one that means both. */
const joins: Readonly<Record<string, Join>> = {
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
  enum: (one, other) => {
    const others = new Set(list(other).map(sameKey));
    return list(one).filter((value) => others.has(sameKey(value)));
  },
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
        value: Object.hasOwn(joined, name) && joined[name] !== schema ? { allOf: [joined[name], schema] } : schema,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    return joined;
  },
  uniqueItems: (one, other) => one === true || other === true,
};

function merge(one: JsonObject, given: JsonObject, lost: string[]): JsonObject {
  const merged: Record<string, unknown> = { ...one };
  const other: Record<string, unknown> = { ...given };
  // null belongs to the types of its own side.
  for (const side of [merged, other])
    if (side["nullable"] === true && "type" in side) {
      side["type"] = typesOf(side);
      delete side["nullable"];
    }
  // These count what the other keywords of their own side leave over.
  for (const [keyword, beside] of leftovers) {
    const alone = (side: JsonObject, against: JsonObject): boolean =>
      !(keyword in side) || isAnything(side[keyword]) || beside.every((each) => sameNames(side[each], against[each]));
    if (alone(one, given) && alone(given, one)) continue;
    delete merged[keyword];
    delete other[keyword];
    lost.push(keyword);
  }
  for (const [keyword, value] of Object.entries(other)) {
    // Unknown keywords say nothing, whatever they are called.
    if (!assertions.has(keyword) && !annotations.has(keyword)) continue;
    const mine = merged[keyword];
    const join = Object.hasOwn(joins, keyword) ? joins[keyword] : undefined;
    if (!Object.hasOwn(merged, keyword)) merged[keyword] = value;
    else if (annotations.has(keyword) || mine === value || (join === undefined && same(mine, value))) continue;
    else {
      const joined = join?.(mine, value);
      if (joined === undefined) lost.push(keyword);
      else merged[keyword] = joined;
    }
  }
  return merged;
}

/** Keywords for what others beside them do not cover. */
const leftovers: readonly (readonly [keyword: string, beside: readonly string[]])[] = [
  ["additionalProperties", ["properties", "patternProperties"]],
  ["unevaluatedProperties", ["properties", "patternProperties", "additionalProperties"]],
  ["items", ["prefixItems"]],
  ["additionalItems", ["items"]],
  ["unevaluatedItems", ["prefixItems", "items", "contains"]],
];

function isAnything(schema: unknown): boolean {
  return schema === true || (isObject(schema) && Object.keys(schema).every((keyword) => annotations.has(keyword)));
}

/** Whether the other side adds no names or items to those that this side covers. */
function sameNames(mine: unknown, other: unknown): boolean {
  if (other === undefined || same(mine, other)) return true;
  return isObject(mine) && isObject(other) && Object.keys(other).every((name) => Object.hasOwn(mine, name));
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
  return one === other || isDeepStrictEqual(one, other);
}

/** A text that values share if JSON Schema takes them for equal. */
export function sameKey(value: unknown): string {
  if (value instanceof ExactNumber || typeof value === "number") return String(Number(String(value)) + 0);
  if (Array.isArray(value)) return `[${value.map(sameKey).join()}]`;
  if (!isObject(value)) return String(JSON.stringify(value));
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${sameKey(member)}`);
  return `{${members.sort().join()}}`;
}
