import { isObject, type JsonObject } from "../../core/index.js";
import { pointTo } from "../fault.js";
import { ruleLimits } from "../limits.js";
import { annotations, assertions, flatten, list, typesOf } from "../read/merge.js";
import type { Place, SchemaSource } from "../read/source.js";
import { formatTest } from "./formats.js";
import { re2Pattern } from "./re2.js";

/** How many levels of a value an expression checks. */
const DEPTH = 6;

const types: Readonly<Record<string, string>> = {
  string: "string",
  number: "double",
  integer: "double",
  boolean: "bool",
  object: "map",
  array: "list",
  null: "null_type",
};

/** Called for the parts of a schema that no expression covers. */
export type Lost = (pointer: string, keyword: string) => void;

/** What an expression is made with. */
export interface CelContext {
  readonly source: SchemaSource;
  readonly lost: Lost;
  /** Whether formats are checked. */
  readonly formats: boolean;
}

/** An expression that is being made, and the characters that may still go into it. */
interface Writing extends CelContext {
  readonly room: { left: number };
  /** What the expression does not cover so far. */
  readonly missed: (readonly [pointer: string, keyword: string])[];
}

/** Thrown if an expression becomes too long, before it takes up memory. */
class TooLong extends Error {}

/** A CEL expression for the google.protobuf.Values that match a schema. Undefined if nothing can be expressed, or it would be too long. */
export function celExpression(place: Place, context: CelContext): string | undefined {
  const missed: [string, string][] = [];
  const lost: Lost = (pointer, keyword) => void missed.push([pointer, keyword]);
  // A part is counted again with each level around it.
  const room = { left: ruleLimits.expression * (DEPTH + 2) };
  let text: string | undefined;
  try {
    text = expression(place, "this", { ...context, room, missed, lost }, 0);
    if (text !== undefined && text.length > ruleLimits.expression) throw new TooLong();
  } catch (error) {
    if (!(error instanceof TooLong)) throw error;
    context.lost(place.pointer, "anyOf");
    return undefined;
  }
  for (const [pointer, keyword] of missed) context.lost(pointer, keyword);
  return text;
}

function expression(place: Place, value: string, context: Writing, depth: number): string | undefined {
  const { source, lost, room } = context;
  room.left -= value.length;
  if (room.left < 0) throw new TooLong();
  const { schema, pointer, lost: unmerged } = flatten(place, source);
  for (const keyword of unmerged) lost(pointer, keyword);
  if (depth > DEPTH) {
    lost(pointer, "properties");
    return undefined;
  }
  const parts: string[] = [];
  const named = typesOf(schema).filter((type) => Object.hasOwn(types, type));
  if (named.length > 0) parts.push(either(named.map((type) => typeTest(type, value))));
  const said = new Set(["type", "nullable"]);
  for (const keyword of ["enum", "const"]) {
    if (!(keyword in schema)) continue;
    const values = keyword === "enum" ? list(schema["enum"]) : [schema["const"]];
    if (values.length > ruleLimits.enumValues) continue;
    const literals = values.map(literal);
    if (literals.includes(undefined)) continue;
    parts.push(`dyn(${value}) in [${literals.join(", ")}]`);
    said.add(keyword);
  }
  for (const [type, tests] of [
    ["string", textTests],
    ["double", numberTests],
  ] as const) {
    const found = tests(schema, value, said, context.formats);
    if (found.length > 0) parts.push(when(type, value, named, all(found)));
  }
  const inArrays = arrayTests(place, schema, value, context, depth, said);
  if (inArrays.length > 0) parts.push(when("list", value, named, all(inArrays)));
  const inObjects = objectTests(place, schema, value, context, depth, said);
  if (inObjects.length > 0) parts.push(when("map", value, named, all(inObjects)));
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = list(schema[keyword]);
    if (branches.length === 0) continue;
    const before = context.missed.length;
    const texts = branches.map((branch, index) =>
      expression({ schema: branch, pointer: pointTo(pointer, keyword, index) }, value, context, depth + 1),
    );
    // A branch that is not covered completely accepts too much, so that two may fit where one should.
    const isExact = keyword === "oneOf" && context.missed.length === before;
    if (isExact || keyword === "anyOf") said.add(keyword);
    if (isExact) parts.push(exactlyOne(texts.map((text) => text ?? "true")));
    else if (!texts.includes(undefined)) parts.push(either(texts as string[]));
  }
  for (const keyword of Object.keys(schema)) {
    if (!said.has(keyword) && assertions.has(keyword) && !isTrivial(keyword, schema[keyword])) lost(pointer, keyword);
  }
  if (parts.length === 0) return undefined;
  const text = all(parts);
  room.left -= text.length;
  return text;
}

function typeTest(type: string, value: string): string {
  const test = `type(${value}) == ${types[type]}`;
  // CEL integers end at 2^63. A larger double is a whole number anyway.
  return type === "integer" ? `(${test} && (${value} >= 9.0e18 || ${value} <= -9.0e18 || double(int(${value})) == ${value}))` : test;
}

function sizeTests(schema: JsonObject, value: string, least: string, most: string, said: Set<string>): string[] {
  const signs = { [least]: ">=", [most]: "<=" };
  return Object.entries(signs).flatMap(([keyword, sign]) => {
    if (!Number.isSafeInteger(schema[keyword])) return [];
    said.add(keyword);
    return [`size(${value}) ${sign} ${String(schema[keyword])}`];
  });
}

function textTests(schema: JsonObject, value: string, said: Set<string>, formats: boolean): string[] {
  const tests = sizeTests(schema, value, "minLength", "maxLength", said);
  const pattern = typeof schema["pattern"] === "string" ? re2Pattern(schema["pattern"]) : undefined;
  if (pattern !== undefined) {
    tests.push(`${value}.matches(${celText(pattern)})`);
    said.add("pattern");
  }
  const format = formats ? formatTest(schema["format"], value, celText) : undefined;
  if (format !== undefined) tests.push(format);
  said.add("format");
  return tests;
}

function numberTests(schema: JsonObject, value: string, said: Set<string>): string[] {
  const signs = { minimum: ">=", maximum: "<=", exclusiveMinimum: ">", exclusiveMaximum: "<" };
  return Object.entries(signs).flatMap(([keyword, sign]) => {
    const bound = schema[keyword];
    if (typeof bound !== "number" || !Number.isFinite(bound)) return [];
    said.add(keyword);
    return [`${value} ${sign} ${double(bound)}`];
  });
}

function arrayTests(place: Place, schema: JsonObject, value: string, context: Writing, depth: number, said: Set<string>): string[] {
  const { pointer } = place;
  const tests = sizeTests(schema, value, "minItems", "maxItems", said);
  const first = list(schema["prefixItems"]);
  for (const [index, item] of first.entries()) {
    const place = { schema: item, pointer: pointTo(pointer, "prefixItems", index) };
    const inner = expression(place, `${value}[${index}]`, context, depth + 1);
    if (inner !== undefined) tests.push(`(size(${value}) <= ${index} || ${inner})`);
  }
  said.add("prefixItems");
  if (schema["items"] === false) {
    tests.push(`size(${value}) <= ${first.length}`);
    said.add("items");
  } else if (isObject(schema["items"]) && first.length === 0) {
    said.add("items");
    const each = `v${depth}`;
    const inner = expression({ schema: schema["items"], pointer: pointTo(pointer, "items") }, each, context, depth + 1);
    if (inner !== undefined) tests.push(`${value}.all(${each}, ${inner})`);
  }
  return tests;
}

function objectTests(place: Place, schema: JsonObject, value: string, context: Writing, depth: number, said: Set<string>): string[] {
  const tests = sizeTests(schema, value, "minProperties", "maxProperties", said);
  for (const name of list(schema["required"])) tests.push(`${celText(String(name))} in ${value}`);
  said.add("required");
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  said.add("properties");
  for (const [name, property] of Object.entries(properties)) {
    const member = `${value}[${celText(name)}]`;
    const inner = expression({ schema: property, pointer: pointTo(place.pointer, "properties", name) }, member, context, depth + 1);
    if (inner === undefined) continue;
    tests.push(list(schema["required"]).includes(name) ? inner : `(!(${celText(name)} in ${value}) || ${inner})`);
  }
  const rest = schema["additionalProperties"];
  if (rest === undefined || schema["patternProperties"] !== undefined) return tests;
  const names = `[${Object.keys(properties).map(celText).join(", ")}]`;
  const key = `k${depth}`;
  if (rest === false) tests.push(`${value}.all(${key}, ${key} in ${names})`);
  else {
    const inner = expression(
      { schema: rest, pointer: pointTo(place.pointer, "additionalProperties") },
      `${value}[${key}]`,
      context,
      depth + 1,
    );
    if (inner !== undefined) tests.push(`${value}.all(${key}, ${names === "[]" ? "" : `${key} in ${names} || `}${inner})`);
  }
  said.add("additionalProperties");
  return tests;
}

/** A test that applies only to values of a type. If there is no other type, it applies to all. */
function when(type: string, value: string, named: readonly string[], test: string): string {
  return named.length === 1 && types[named[0] ?? ""] === type ? test : `(type(${value}) != ${type} || ${test})`;
}

function all(parts: readonly string[]): string {
  return parts.length === 1 ? (parts[0] as string) : `(${parts.join(" && ")})`;
}

function either(parts: readonly string[]): string {
  return parts.length === 1 ? (parts[0] as string) : `(${[...new Set(parts)].join(" || ")})`;
}

function exactlyOne(parts: readonly string[]): string {
  return parts.length === 1 ? (parts[0] as string) : `[${parts.join(", ")}].exists_one(fits, fits)`;
}

function literal(value: unknown): string | undefined {
  if (typeof value === "string") return celText(value);
  if (typeof value === "number") return Number.isFinite(value) ? double(value) : undefined;
  return value === null || typeof value === "boolean" ? String(value) : undefined;
}

function double(value: number): string {
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text.replace("e+", "e");
}

const unsafe = /[\p{Cc}\\']/gu;

/** A string literal of CEL. */
export function celText(text: string): string {
  return `'${text.replace(unsafe, (character) => (character === "\\" || character === "'" ? `\\${character}` : `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`))}'`;
}

/** Whether a keyword with this value accepts every value. */
export function isTrivial(keyword: string, value: unknown): boolean {
  switch (keyword) {
    case "uniqueItems":
      return value === false;
    case "minLength":
    case "minItems":
    case "minProperties":
      return value === 0;
    case "propertyNames":
    case "items":
    case "additionalProperties":
    case "unevaluatedProperties":
      return (
        value === true ||
        (isObject(value) &&
          Object.keys(value).every(
            (each) => annotations.has(each) || (each === "type" && value["type"] === "string" && keyword === "propertyNames"),
          ))
      );
    case "properties":
    case "patternProperties":
    case "dependentRequired":
    case "dependentSchemas":
      return isObject(value) && Object.keys(value).length === 0;
    case "required":
    case "allOf":
      return Array.isArray(value) && value.length === 0;
    default:
      return false;
  }
}
