import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { FieldRules } from "../../codec/gen/validate.js";
import { type Fault, type JsonObject, schemaLimits } from "../../core/index.js";
import { unresolved } from "../store/fault.js";
import { hasOwnJson, jsonKindOf } from "../values/encode.js";
import { isOverflow, keysOf, rulesOf, variantsOf } from "../values/plan.js";
import { commentsOf } from "./comments.js";
import { keywordsOf } from "./rules.js";

export interface JsonSchemaOptions {
  /** For clients that cannot follow `$ref`: a recursive message is written out this many times, and is any object below that. */
  readonly depth?: number;
}

/**
 * The JSON Schema of a message, in the form that model APIs accept: an object at the top, never a union; `$defs` only for recursive
 * messages.
 */
export function messageSchema(desc: DescMessage, options: JsonSchemaOptions = {}): JsonObject {
  const writer = new SchemaWriter(desc, options.depth);
  const schema = writer.object(desc, [desc]);
  const defs = writer.defs();
  return Object.keys(defs).length === 0 ? schema : { ...schema, $defs: defs };
}

const integers: Partial<Record<ScalarType, readonly [min: number, max: number]>> = {
  [ScalarType.INT32]: [-(2 ** 31), 2 ** 31 - 1],
  [ScalarType.SINT32]: [-(2 ** 31), 2 ** 31 - 1],
  [ScalarType.SFIXED32]: [-(2 ** 31), 2 ** 31 - 1],
  [ScalarType.UINT32]: [0, 2 ** 32 - 1],
  [ScalarType.FIXED32]: [0, 2 ** 32 - 1],
  [ScalarType.UINT64]: [0, Number.POSITIVE_INFINITY],
  [ScalarType.FIXED64]: [0, Number.POSITIVE_INFINITY],
};

/** Messages with a special form in JSON. */
const wellKnown: Readonly<Record<string, JsonObject>> = {
  Timestamp: { type: "string", format: "date-time" },
  Duration: { type: "string", pattern: "^-?[0-9]+(\\.[0-9]{1,9})?s$" },
  FieldMask: { type: "string" },
  DoubleValue: { type: ["number", "null"] },
  FloatValue: { type: ["number", "null"] },
  Int64Value: { type: ["string", "integer", "null"] },
  UInt64Value: { type: ["string", "integer", "null"] },
  Int32Value: { type: ["integer", "null"] },
  UInt32Value: { type: ["integer", "null"] },
  BoolValue: { type: ["boolean", "null"] },
  StringValue: { type: ["string", "null"] },
  BytesValue: { type: ["string", "null"], contentEncoding: "base64" },
};

class SchemaWriter {
  readonly #root: DescMessage;
  readonly #recursive: ReadonlySet<DescMessage>;
  #fields = 0;
  readonly #depth: number | undefined;
  readonly #defs = new Map<DescMessage, { readonly name: string; schema: JsonObject }>();

  constructor(root: DescMessage, depth: number | undefined) {
    this.#root = root;
    this.#recursive = recursiveIn(root);
    this.#depth = depth;
  }

  defs(): JsonObject {
    return Object.fromEntries([...this.#defs.values()].map(({ name, schema }) => [name, schema]));
  }

  /** `within`: the messages that contain this one, with itself last. */
  object(desc: DescMessage, within: readonly DescMessage[]): JsonObject {
    if (within.length > schemaLimits.builtDepth) throw tooMuch(this.#root, "too deep", { limit: "builtDepth" });
    const comments = commentsOf(desc.file);
    const properties: [string, unknown][] = [];
    const required: string[] = [];
    let rest: unknown = false;
    for (const field of desc.fields) {
      if (field.oneof !== undefined) continue;
      if (isOverflow(field)) {
        if (keysOf(field) === undefined) rest = true;
        continue;
      }
      const rules = rulesOf(field);
      properties.push([field.jsonName, described(this.#field(field, rules, within), comments.get(`${desc.typeName}.${field.name}`))]);
      const collection = field.fieldKind === "list" || field.fieldKind === "map";
      if (rules?.required === true || (collection && needsSome(rules))) required.push(field.jsonName);
    }
    for (const oneof of desc.oneofs) {
      const cases = oneof.fields.map((field) => ({
        type: "object",
        properties: {
          case: { const: field.jsonName },
          value: described(this.#field(field, rulesOf(field), within), comments.get(`${desc.typeName}.${field.name}`)),
        },
        required: ["case", "value"],
        additionalProperties: false,
      }));
      properties.push([oneof.name, { anyOf: cases, description: "One of these, named by case." }]);
    }
    const schema: JsonObject = {
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.length > 0 ? { required } : undefined),
      ...(rest === true ? undefined : { additionalProperties: false }),
    };
    return described(schema, comments.get(desc.typeName));
  }

  #field(field: DescField, rules: FieldRules | undefined, within: readonly DescMessage[]): JsonObject {
    if (++this.#fields > schemaLimits.builtFields) throw tooMuch(this.#root, "too large", { limit: "builtFields" });
    const keywords = keywordsOf(rules);
    switch (field.fieldKind) {
      case "list": {
        const inner = rules?.type.case === "repeated" ? rules.type.value.items : undefined;
        return { type: "array", items: this.#single(field, inner, within), ...keywords };
      }
      case "map": {
        const { keys, values } = rules?.type.case === "map" ? rules.type.value : {};
        const names = keywordsOf(keys);
        return {
          type: "object",
          additionalProperties: this.#single(field, values, within),
          ...(Object.keys(names).length > 0 ? { propertyNames: names } : undefined),
          ...keywords,
        };
      }
      default:
        return this.#single(field, rules, within);
    }
  }

  #single(field: DescField, rules: FieldRules | undefined, within: readonly DescMessage[]): JsonObject {
    if (field.message !== undefined) return this.#message(field.message, within);
    if (field.enum !== undefined) {
      if (field.enum.typeName === "google.protobuf.NullValue") return { type: "null" };
      return { type: "string", enum: field.enum.values.map((value) => value.name) };
    }
    return { ...scalarType(field.scalar), ...keywordsOf(rules) };
  }

  #message(desc: DescMessage, within: readonly DescMessage[]): JsonObject {
    const kind = jsonKindOf(desc);
    if (kind !== undefined) return kind === "Value" ? {} : kind === "Struct" ? { type: "object" } : { type: "array", items: {} };
    if (hasOwnJson(desc)) return wellKnown[desc.name] ?? {};
    const times = within.filter((outer) => outer === desc).length;
    if (times > 0) {
      if (this.#depth !== undefined) return times > this.#depth ? { type: "object" } : this.#written(desc, [...within, desc]);
      return desc === this.#root ? { $ref: "#" } : { $ref: `#/$defs/${this.#def(desc).name}` };
    }
    if (this.#depth === undefined && this.#recursive.has(desc) && desc !== this.#root) return { $ref: `#/$defs/${this.#def(desc).name}` };
    return this.#written(desc, [...within, desc]);
  }

  #def(desc: DescMessage): { readonly name: string } {
    let def = this.#defs.get(desc);
    if (def === undefined) {
      const taken = [...this.#defs.values()].map(({ name }) => name);
      def = { name: taken.includes(desc.name) ? desc.typeName.replaceAll(".", "_") : desc.name, schema: {} };
      this.#defs.set(desc, def);
      def.schema = this.#written(desc, [desc]);
    }
    return def;
  }

  #written(desc: DescMessage, within: readonly DescMessage[]): JsonObject {
    const variants = variantsOf(desc);
    if (variants === undefined) return this.object(desc, within);
    return {
      anyOf: [...new Set(variants.byValue.values())].map((field) =>
        field.message === undefined ? {} : this.#message(field.message, within),
      ),
    };
  }
}

function needsSome(rules: FieldRules | undefined): boolean {
  if (rules === undefined || rules.ignore === 1) return false;
  return (
    (rules.type.case === "repeated" && rules.type.value.minItems > 0n) || (rules.type.case === "map" && rules.type.value.minPairs > 0n)
  );
}

function tooMuch({ typeName }: DescMessage, what: string, { limit }: { readonly limit: "builtFields" | "builtDepth" }): Fault {
  const more = `more than ${schemaLimits[limit]} ${limit === "builtFields" ? "fields" : "levels"}`;
  return unresolved("descriptors", `the JSON Schema of ${typeName} would be ${what}: it has ${more}`, { limit });
}

/** The messages that contain themselves, by Tarjan's algorithm without recursion, because the sender chooses how deep they go. */
function recursiveIn(root: DescMessage): ReadonlySet<DescMessage> {
  const recursive = new Set<DescMessage>();
  const state = new Map<DescMessage, { readonly index: number; low: number; open: boolean }>();
  const open: DescMessage[] = [];
  const enter = (desc: DescMessage): { desc: DescMessage; next: Iterator<DescMessage> } => {
    state.set(desc, { index: state.size, low: state.size, open: true });
    open.push(desc);
    return { desc, next: desc.fields.flatMap(({ message }) => message ?? []).values() };
  };
  const path = [enter(root)];
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const { value: inner, done } = top.next.next();
    const own = state.get(top.desc);
    if (own === undefined) break;
    if (done !== true) {
      const known = state.get(inner);
      if (inner === top.desc) recursive.add(inner);
      if (known === undefined) path.push(enter(inner));
      else if (known.open) own.low = Math.min(own.low, known.index);
      continue;
    }
    path.pop();
    const outer = path.at(-1);
    const around = outer && state.get(outer.desc);
    if (around !== undefined) around.low = Math.min(around.low, own.low);
    if (own.low !== own.index) continue;
    const group = open.splice(open.lastIndexOf(top.desc));
    for (const member of group) {
      (state.get(member) as { open: boolean }).open = false;
      if (group.length > 1) recursive.add(member);
    }
  }
  return recursive;
}

function scalarType(scalar: ScalarType | undefined): JsonObject {
  switch (scalar) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: "number" };
    default: {
      const [min, max] = (scalar === undefined ? undefined : integers[scalar]) ?? [undefined, undefined];
      return {
        type: "integer",
        ...(min === undefined ? undefined : { minimum: min }),
        ...(max === undefined || !Number.isFinite(max) ? undefined : { maximum: max }),
      };
    }
  }
}

function described(schema: JsonObject, comment: string | undefined): JsonObject {
  return comment === undefined || "description" in schema ? schema : { ...schema, description: comment };
}
