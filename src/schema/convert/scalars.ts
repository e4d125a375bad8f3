import { ExactNumber, type JsonObject } from "../../core/index.js";
import { ruleLimits } from "../limits.js";
import { list } from "../read/merge.js";
import { celText } from "./cel.js";
import { formatRules } from "./formats.js";
import { re2Pattern } from "./re2.js";
import type { Rules, ScalarKind } from "./shape.js";

/** A scalar with its rules, and the keywords that they cover. */
export interface Scalar {
  readonly kind: ScalarKind;
  readonly rules: Rules;
  readonly said: ReadonlySet<string>;
}

const INT32 = 2 ** 31;
const INT64 = 2n ** 63n;

export function stringScalar(schema: JsonObject, asserted: boolean): Scalar {
  const said = new Set<string>();
  const rules: Record<string, unknown> = {};
  let test: { readonly id: string; readonly message: string; readonly expression: string } | undefined;
  const format = schema["format"];
  if (typeof format === "string" && asserted && Object.hasOwn(formatRules, format)) {
    const rule = formatRules[format];
    // A string can have only one pattern rule. A format that needs a second one is checked by CEL.
    if (rule?.pattern === undefined || schema["pattern"] === undefined) Object.assign(rules, rule);
    else test = { id: "format", message: `must be a ${format}`, expression: `this.matches(${celText(rule.pattern)})` };
  }
  said.add("format");
  Object.assign(rules, countRules(schema, ["minLength", "maxLength"], ["minLen", "maxLen"], said));
  const pattern = typeof schema["pattern"] === "string" ? re2Pattern(schema["pattern"]) : undefined;
  if (pattern !== undefined) {
    rules["pattern"] = pattern;
    said.add("pattern");
  }
  const values = allowed(schema, said, (value): value is string => typeof value === "string" && !/\p{Surrogate}/u.test(value));
  if (values !== undefined) addAllowed(rules, values);
  if (rules["minLen"] !== undefined && rules["minLen"] === rules["maxLen"]) {
    rules["len"] = rules["minLen"];
    delete rules["minLen"];
    delete rules["maxLen"];
  }
  const base = withRules("string", alone(rules, said));
  if (test === undefined) return { kind: "string", rules: base, said };
  // If values are listed, ajv checks which of them have the format.
  if (values !== undefined) said.delete("format");
  return { kind: "string", rules: values === undefined ? { ...base, cel: [test] } : base, said };
}

export function boolScalar(schema: JsonObject): Scalar {
  const said = new Set<string>();
  const values = allowed(schema, said, (value) => typeof value === "boolean");
  const only = values === undefined || new Set(values).size !== 1 ? undefined : values[0];
  if (values !== undefined && values.length === 0) said.clear();
  return { kind: "bool", rules: withRules("bool", only === undefined ? {} : { const: only }), said };
}

export function numberScalar(schema: JsonObject): Scalar {
  const said = new Set<string>();
  const rules: Record<string, unknown> = { finite: true };
  // No double holds an exact number.
  addBounds(rules, schema, said, (bound) => (typeof bound === "number" && Number.isFinite(bound) ? bound + 0 : undefined));
  const values = allowed(schema, said, (value): value is number => typeof value === "number" && Number.isFinite(value));
  if (values !== undefined) addAllowed(rules, values);
  return { kind: "double", rules: withRules("double", alone(rules, said)), said };
}

/** int32 if both bounds fit it, otherwise int64. A value that no int64 holds is refused. */
export function integerScalar(schema: JsonObject, asserted: boolean): Scalar {
  const said = new Set<string>();
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const values = allowed(schema, said, (value): value is number => Number.isSafeInteger(value));
  const fits = (...bounds: unknown[]): boolean => bounds.some((bound) => typeof bound === "number" && Math.abs(bound) < INT32);
  const bounded = fits(minimum, exclusiveMinimum) && fits(maximum, exclusiveMaximum);
  const small = (asserted && schema["format"] === "int32") || (values === undefined ? bounded : values.every((value) => fits(value)));
  const kind = small ? "int32" : "int64";
  const convert = (value: number): number | bigint => (small ? value : BigInt(value));
  const rules: Record<string, unknown> = {};
  addBounds(rules, schema, said, (bound, keyword) => {
    const whole = wholeBound(bound, keyword);
    if (whole === undefined) return undefined;
    const limit = small ? BigInt(INT32) : INT64;
    // The type itself keeps some bounds.
    if (/max/i.test(keyword) ? whole >= limit : whole < -limit) return "any";
    return whole >= limit || whole < -limit ? undefined : small ? Number(whole) : whole;
  });
  if (values !== undefined) addAllowed(rules, values.map(convert));
  const multiple = schema["multipleOf"];
  const cel = typeof multiple === "number" && Number.isSafeInteger(multiple) && multiple > 0;
  if (cel) said.add("multipleOf");
  const base = withRules(kind, alone(rules, said));
  if (!cel || multiple === 1) return { kind, rules: base, said };
  const rule = { id: "multiple_of", message: `must be a multiple of ${multiple}`, expression: `this % ${multiple} == 0` };
  return { kind, rules: { ...base, cel: [rule] }, said };
}

/** The integer that a bound comes down to. */
function wholeBound(bound: number | ExactNumber, keyword: string): bigint | undefined {
  if (bound instanceof ExactNumber) {
    if (/^-?\d{1,400}$/.test(bound.text)) return BigInt(bound.text);
    return undefined;
  }
  const whole = keyword === "minimum" || keyword === "exclusiveMaximum" ? Math.ceil(bound) : Math.floor(bound);
  return Number.isFinite(whole) ? BigInt(whole) : undefined;
}

const bounds = [
  ["minimum", "gte"],
  ["exclusiveMinimum", "gt"],
  ["maximum", "lte"],
  ["exclusiveMaximum", "lt"],
] as const;

function addBounds(
  rules: Record<string, unknown>,
  schema: JsonObject,
  said: Set<string>,
  convert: (bound: number | ExactNumber, keyword: string) => number | bigint | "any" | undefined,
): void {
  const found: Partial<Record<"greaterThan" | "lessThan", { case: string; value: number | bigint; keyword: string }>> = {};
  for (const [keyword, rule] of bounds) {
    const bound = schema[keyword];
    if (typeof bound !== "number" && !(bound instanceof ExactNumber)) continue;
    const value = convert(bound, keyword);
    const side = rule.startsWith("g") ? "greaterThan" : "lessThan";
    if (value === undefined) continue;
    if (value === "any") {
      said.add(keyword);
      continue;
    }
    const other = found[side];
    // Of two bounds on one side the narrower one counts.
    const narrower = other === undefined || (side === "greaterThan" ? value >= other.value : value <= other.value);
    if (narrower) found[side] = { case: rule, value, keyword };
    said.add(keyword);
  }
  const { greaterThan, lessThan } = found;
  // Crossed bounds mean "outside of" in a rule, and "nothing" in a schema.
  if (
    greaterThan !== undefined &&
    lessThan !== undefined &&
    greaterThan.value >= lessThan.value &&
    !(greaterThan.case === "gte" && lessThan.case === "lte" && greaterThan.value === lessThan.value)
  ) {
    for (const [keyword] of bounds) said.delete(keyword);
    return;
  }
  if (greaterThan !== undefined && greaterThan.value === lessThan?.value) rules["const"] = greaterThan.value;
  else for (const [side, bound] of Object.entries(found)) rules[side] = { case: bound.case, value: bound.value };
}

/** The values of `enum` and `const`, if all are of the kind. null is handled separately. */
function allowed<T>(schema: JsonObject, said: Set<string>, fits: (value: unknown) => value is T): T[] | undefined {
  const given =
    "const" in schema ? [schema["const"]] : "enum" in schema ? list(schema["enum"]).filter((value) => value !== null) : undefined;
  if (given === undefined || given.length === 0 || given.length > ruleLimits.enumValues) return undefined;
  const fitting = given.filter(fits).map((value) => (value === 0 ? (0 as T) : value));
  if (fitting.length < given.length) return undefined;
  said.add("const" in schema ? "const" : "enum");
  if ("const" in schema && "enum" in schema && list(schema["enum"]).includes(schema["const"])) said.add("enum");
  return fitting;
}

function addAllowed(rules: Record<string, unknown>, values: readonly unknown[]): void {
  if (values.length === 1) rules["const"] = values[0];
  else rules["in"] = [...new Set(values)];
}

/** A listed value needs no other rule. ajv checks the remaining keywords. */
function alone(rules: Record<string, unknown>, said: Set<string>): Record<string, unknown> {
  if (!("const" in rules) && !("in" in rules)) return rules;
  const others = Object.keys(rules).filter((rule) => rule !== "const" && rule !== "in" && rule !== "finite");
  if (others.length > 0 || ("const" in rules && "in" in rules))
    for (const keyword of [...said]) if (keyword !== "const" && keyword !== "enum") said.delete(keyword);
  return "in" in rules ? { in: rules["in"] } : { const: rules["const"] };
}

/** The rules for a count, if both limits can be expressed. */
export function countRules(
  schema: JsonObject,
  keywords: readonly [least: string, most: string],
  names: readonly [least: string, most: string],
  said: Set<string>,
): Record<string, bigint> {
  const [least, most] = keywords
    .map((keyword) => schema[keyword])
    .map((count) => (typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined));
  if (least !== undefined && most !== undefined && least > most) return {};
  if (least !== undefined) said.add(keywords[0]);
  if (most !== undefined) said.add(keywords[1]);
  return {
    ...(least === undefined || least === 0 ? undefined : { [names[0]]: BigInt(least) }),
    ...(most === undefined ? undefined : { [names[1]]: BigInt(most) }),
  };
}

function withRules(kind: ScalarKind, rules: Record<string, unknown>): Rules {
  if (Object.keys(rules).length === 0) return {};
  return { type: { case: kind, value: rules } } as Rules;
}
