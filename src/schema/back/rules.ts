import type { FieldRules } from "../../codec/gen/validate.js";

type Keywords = Record<string, unknown>;

/** Well-known string rules that have a format in JSON Schema. */
const formats: Readonly<Record<string, string>> = {
  email: "email",
  hostname: "hostname",
  ipv4: "ipv4",
  ipv6: "ipv6",
  uri: "uri",
  uriRef: "uri-reference",
  uuid: "uuid",
};

/** The JSON Schema keywords for protovalidate rules. CEL and rules without a keyword are left to protovalidate. */
export function keywordsOf(rules: FieldRules | undefined): Keywords {
  switch (rules?.type.case) {
    case undefined:
      return {};
    case "string": {
      const { value } = rules.type;
      return {
        ...given(value, { const: "const", minLen: "minLength", maxLen: "maxLength" }),
        ...patternOf(value.pattern),
        ...(isSet(value, "len") ? { minLength: plain(value.len), maxLength: plain(value.len) } : undefined),
        ...(value.in.length > 0 ? { enum: [...value.in] } : undefined),
        ...(value.notIn.length > 0 ? { not: { enum: [...value.notIn] } } : undefined),
        ...affixes(value.prefix, value.suffix, value.contains, value.pattern),
        ...(value.wellKnown.case !== undefined && Object.hasOwn(formats, value.wellKnown.case)
          ? { format: formats[value.wellKnown.case] }
          : undefined),
      };
    }
    case "bool":
      return given(rules.type.value, { const: "const" });
    case "repeated":
      return given(rules.type.value, { minItems: "minItems", maxItems: "maxItems", unique: "uniqueItems" });
    case "map":
      return given(rules.type.value, { minPairs: "minProperties", maxPairs: "maxProperties" });
    case "int32":
    case "int64":
    case "uint32":
    case "uint64":
    case "sint32":
    case "sint64":
    case "fixed32":
    case "fixed64":
    case "sfixed32":
    case "sfixed64":
    case "float":
    case "double":
      return numbers(rules.type.value as NumberRules);
    case "enum":
      return {};
    default:
      return {};
  }
}

interface NumberRules {
  readonly const?: number | bigint;
  readonly in: readonly (number | bigint)[];
  readonly notIn: readonly (number | bigint)[];
  readonly greaterThan: { readonly case: "gt" | "gte" | undefined; readonly value?: number | bigint };
  readonly lessThan: { readonly case: "lt" | "lte" | undefined; readonly value?: number | bigint };
}

function numbers(rules: NumberRules): Keywords {
  const { greaterThan: low, lessThan: high } = rules;
  const keywords: Keywords = given(rules, { const: "const" });
  if (rules.in.length > 0) keywords["enum"] = rules.in.map(plain);
  if (rules.notIn.length > 0) keywords["not"] = { enum: rules.notIn.map(plain) };
  // Crossed bounds mean "outside of", which no keyword expresses.
  if (low.value !== undefined && high.value !== undefined && low.value > high.value) return keywords;
  if (low.value !== undefined) keywords[low.case === "gt" ? "exclusiveMinimum" : "minimum"] = plain(low.value);
  if (high.value !== undefined) keywords[high.case === "lt" ? "exclusiveMaximum" : "maximum"] = plain(high.value);
  return keywords;
}

/** prefix, suffix and contains as one pattern, if there is no other. */
function affixes(prefix: string, suffix: string, contains: string, pattern: string): Keywords | undefined {
  if (pattern !== "" || (prefix === "" && suffix === "" && contains === "")) return undefined;
  return { pattern: `^${literal(prefix)}${contains === "" ? "" : `(?=[\\s\\S]*${literal(contains)})`}[\\s\\S]*${literal(suffix)}$` };
}

/** An RE2 pattern in ECMAScript syntax. Omitted if its meaning would change, or it is invalid. */
function patternOf(source: string): Keywords | undefined {
  if (source === "") return undefined;
  const pattern = source
    .replace(/\\x\{([0-9a-fA-F]+)\}/g, "\\u{$1}")
    .replace(/\(\?P</g, "(?<")
    .replace(/\\A/g, "^")
    .replace(/\\z/g, "$");
  try {
    new RegExp(pattern, "u");
  } catch {
    return undefined;
  }
  return /\[\[:|\(\?[a-zA-Z-]+[:)]/.test(pattern) ? undefined : { pattern };
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function given(rules: object, names: Readonly<Record<string, string>>): Keywords {
  const keywords: Keywords = {};
  for (const [rule, keyword] of Object.entries(names)) if (isSet(rules, rule)) keywords[keyword] = plain((rules as Keywords)[rule]);
  return keywords;
}

/** The rules use proto2 presence: a rule that is set is an own member. */
function isSet(rules: object, name: string): boolean {
  return Object.hasOwn(rules, name);
}

function plain(value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
