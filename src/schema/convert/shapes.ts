import { isObject, type JsonObject, schemaLimits } from "../../core/index.js";
import { longReference, pointTo } from "../fault.js";
import { assertions, flatten, list, typesOf } from "../read/merge.js";
import type { Place, SchemaSource } from "../read/source.js";
import { type CelContext, celExpression, isTrivial } from "./cel.js";
import { commentOf } from "./comments.js";
import { isNull, isObjectUnion, stray, stringValues, typeOf } from "./keywords.js";
import { Names, pascalCase } from "./names.js";
import type { Residual } from "./notes.js";
import { boolScalar, countRules, integerScalar, numberScalar, type Scalar, stringScalar } from "./scalars.js";
import type { FieldShape, MessageShape, Rules, Shape } from "./shape.js";
import { discriminator } from "./variants.js";

export interface ShapeOptions {
  /** Whether formats become rules. Otherwise they are annotations. */
  readonly formats: boolean;
}

/** Thrown if a reference that was assumed to be a message turns out not to be one. The conversion is repeated without that assumption. */
class NoMessage extends Error {
  readonly pointer: string;
  constructor(pointer: string) {
    super(pointer);
    this.pointer = pointer;
  }
}

export interface Converted {
  readonly shape: Shape;
  readonly residual: readonly Residual[];
}

/** Converts a schema to protobuf: to shapes of messages, and to what they leave to ajv. */
export function convertSchema(source: SchemaSource, rootName: string, options: ShapeOptions): Converted {
  const loose = new Set<string>();
  for (;;) {
    try {
      return new Shaper(source, rootName, options, loose).run();
    } catch (error) {
      if (!(error instanceof NoMessage)) throw error;
      loose.add(error.pointer);
    }
  }
}

const known = ["null", "boolean", "integer", "number", "string", "array", "object"];

class Shaper {
  readonly #source: SchemaSource;
  readonly #options: ShapeOptions;
  readonly #rootName: string;
  /** References that recur but are not messages. google.protobuf.Value stands for them. */
  readonly #loose: ReadonlySet<string>;
  readonly #residual = new Map<string, Residual>();
  /** Its keys, in the order in which they came. */
  readonly #recorded: string[] = [];
  readonly #names: Names;
  /** References that are being followed. */
  #depth = 0;
  readonly #referred = new Map<string, { readonly message: MessageShape; shape?: Shape; taken: boolean }>();

  constructor(source: SchemaSource, rootName: string, options: ShapeOptions, loose: ReadonlySet<string>) {
    this.#source = source;
    this.#rootName = rootName;
    this.#options = options;
    this.#loose = loose;
    this.#names = new Names(rootName);
  }

  get #cel(): CelContext {
    return { source: this.#source, lost: this.#lost, formats: this.#options.formats };
  }

  run(): Converted {
    const shape = this.#referTo({ schema: this.#source.root, pointer: "" });
    return { shape, residual: [...this.#residual.values()] };
  }

  #lost = (pointer: string, keyword: string): void => {
    const key = `${pointer} ${keyword}`;
    this.#residual.set(key, { pointer, keyword });
    this.#recorded.push(key);
  };

  /** The shape of a schema. `name` is the name of its message, if it becomes one. */
  #shape(place: Place, name: string): Shape {
    const { schema, pointer } = place;
    this.#source.spend(pointer);
    if (isObject(schema)) {
      const siblings = Object.keys(schema).some((keyword) => keyword === "$dynamicRef" || assertions.has(keyword));
      if (schema["$ref"] !== undefined && !siblings) return this.#referTo(this.#source.resolve(schema["$ref"], pointer));
    }
    return this.#inline(place, this.#message(pointer, name));
  }

  /** A name that no other message has, and no map entry could have. */
  #taken(name: string): string {
    return this.#names.take(name.endsWith("Entry") ? `${name}Object` : name);
  }

  #message(key: string, name: string): MessageShape {
    return { key, name, comment: "", fields: [], open: true, variants: false };
  }

  /** The target of a reference is converted once. It may still be in progress. */
  #referTo(target: Place): Shape {
    const { pointer } = target;
    if (this.#loose.has(pointer)) return this.#value(target);
    let referred = this.#referred.get(pointer);
    if (referred !== undefined) {
      if (referred.shape !== undefined) return referred.shape;
      referred.taken = true;
      return { kind: "message", message: referred.message, rules: {}, nullable: false };
    }
    const name = pointer === "" ? this.#rootName : pascalCase(pointer.slice(pointer.lastIndexOf("/") + 1));
    referred = { message: this.#message(pointer, name), taken: false };
    this.#referred.set(pointer, referred);
    if (++this.#depth > schemaLimits.schemaDepth) throw longReference(pointer);
    const inner = isObject(target.schema) && "$ref" in target.schema ? this.#shape(target, name) : this.#inline(target, referred.message);
    if (referred.taken && (inner.kind !== "message" || inner.message !== referred.message || inner.nullable)) throw new NoMessage(pointer);
    this.#depth--;
    referred.shape = inner;
    return inner;
  }

  #inline(place: Place, message: MessageShape): Shape {
    const { schema, pointer, lost } = flatten(place, this.#source);
    const shape = this.#flat({ schema, pointer }, message);
    // Afterwards, because a conversion that is given up forgets what it has lost.
    for (const keyword of lost) this.#lost(pointer, keyword);
    return shape;
  }

  #flat({ schema, pointer }: Place & { readonly schema: JsonObject }, message: MessageShape): Shape {
    const types = this.#types(schema);
    const nullable = types.includes("null");
    const others = types.filter((type) => type !== "null" && !(type === "integer" && types.includes("number")));
    const branches = ["anyOf", "oneOf"].find((keyword) => list(schema[keyword]).length > 0);
    if (
      branches !== undefined &&
      !Object.keys(schema).some(
        (keyword) => keyword !== branches && assertions.has(keyword) && !(keyword === "type" && isObjectUnion(schema, branches)),
      )
    )
      return this.#union({ schema, pointer }, branches, message);
    if (others.length !== 1) return this.#value({ schema, pointer });
    return { ...this.#typed(others[0] as string, { schema, pointer }, message), nullable };
  }

  /** The types of a schema: those that it names, else those of its values, else object if it has properties. */
  #types(schema: JsonObject): string[] {
    const named = typesOf(schema).filter((type) => known.includes(type));
    const values = "const" in schema ? [schema["const"]] : list(schema["enum"]);
    const ofValues = [...new Set(values.map(typeOf))];
    if (named.length > 0) {
      // If null is not a value of the enum, it is not allowed, whatever the type says.
      return values.length > 0 && !ofValues.includes("null") ? named.filter((type) => type !== "null") : named;
    }
    if (values.length > 0) return ofValues;
    return isObject(schema["properties"]) ? ["object"] : [];
  }

  #typed(type: string, place: Place & { readonly schema: JsonObject }, message: MessageShape): Shape {
    const { schema, pointer } = place;
    switch (type) {
      case "string":
        return this.#scalar(stringScalar(schema, this.#options.formats), place);
      case "boolean":
        return this.#scalar(boolScalar(schema), place);
      case "integer":
        return this.#scalar(integerScalar(schema, this.#options.formats), place);
      case "number":
        return this.#scalar(numberScalar(schema), place);
      case "array":
        return this.#array(place, message.name);
      default:
        break;
    }
    if ("enum" in schema || "const" in schema) return this.#value(place);
    const properties = isObject(schema["properties"]) ? schema["properties"] : {};
    const rest = schema["additionalProperties"] ?? (schema["unevaluatedProperties"] === false ? false : undefined);
    const named = Object.keys(properties).length > 0 || list(schema["required"]).length > 0;
    if (named || rest === false || pointer === "") return this.#object(place, message);
    return this.#openObject(place, message.name);
  }

  #scalar({ kind, rules, said }: Scalar, { schema, pointer }: Place & { readonly schema: JsonObject }): Shape {
    this.#rest(schema, pointer, new Set(["type", "nullable", ...said]), stray[kind]);
    return { kind, rules, nullable: false };
  }

  /** Records the keywords of a schema that were not converted. `strays` are keywords of other types, which do not apply. */
  #rest(schema: JsonObject, pointer: string, said: ReadonlySet<string>, strays: ReadonlySet<string>): void {
    for (const [keyword, value] of Object.entries(schema))
      if (assertions.has(keyword) && !said.has(keyword) && !strays.has(keyword) && !isTrivial(keyword, value)) this.#lost(pointer, keyword);
  }

  #array({ schema, pointer }: Place & { readonly schema: JsonObject }, name: string): Shape {
    const said = new Set(["type", "nullable", "items"]);
    const since = this.#recorded.length;
    const tuple = schema["prefixItems"] !== undefined || Array.isArray(schema["items"]) || "enum" in schema || "const" in schema;
    const of: Shape = tuple
      ? { kind: "value", rules: {}, nullable: false }
      : this.#shape({ schema: schema["items"] ?? {}, pointer: pointTo(pointer, "items") }, `${name}Item`);
    if (tuple || of.nullable || of.kind === "repeated" || of.kind === "map") {
      this.#forget(pointTo(pointer, "items"), since);
      const expression = celExpression({ schema, pointer }, this.#cel);
      return { kind: "list", rules: cel(expression, "type(this) == list"), nullable: false };
    }
    const rules: Record<string, unknown> = countRules(schema, ["minItems", "maxItems"], ["minItems", "maxItems"], said);
    const comparable = of.kind !== "message" && of.kind !== "value" && of.kind !== "struct" && of.kind !== "list";
    if (schema["uniqueItems"] === true && comparable) {
      rules["unique"] = true;
      said.add("uniqueItems");
    }
    if (Object.keys(of.rules).length > 0) rules["items"] = of.rules;
    this.#rest(schema, pointer, said, stray.array);
    return {
      kind: "repeated",
      of,
      rules: Object.keys(rules).length === 0 ? {} : ({ type: { case: "repeated", value: rules } } as Rules),
      nullable: false,
    };
  }

  /** An object without properties: a map if its members have one type, otherwise a Struct. */
  #openObject({ schema, pointer }: Place & { readonly schema: JsonObject }, name: string): Shape {
    const since = this.#recorded.length;
    const rest = schema["additionalProperties"];
    const said = new Set(["type", "nullable", "properties", "required"]);
    const of: Shape | undefined =
      isObject(rest) &&
      Object.keys(rest).some((keyword) => assertions.has(keyword) || keyword === "$ref") &&
      schema["patternProperties"] === undefined
        ? this.#shape({ schema: rest, pointer: pointTo(pointer, "additionalProperties") }, `${name}Value`)
        : undefined;
    if (of === undefined || of.nullable || of.kind === "repeated" || of.kind === "map") {
      this.#forget(pointTo(pointer, "additionalProperties"), since);
      const expression = celExpression({ schema: withoutTypes(schema, "object"), pointer }, this.#cel);
      return { kind: "struct", rules: cel(expression, "type(this) == map"), nullable: false };
    }
    said.add("additionalProperties");
    const rules: Record<string, unknown> = countRules(schema, ["minProperties", "maxProperties"], ["minPairs", "maxPairs"], said);
    const names = schema["propertyNames"];
    if (isObject(names) && !isTrivial("propertyNames", names)) {
      const flat = flatten({ schema: names, pointer: pointTo(pointer, "propertyNames") }, this.#source);
      const scalar = stringScalar(flat.schema, this.#options.formats);
      if (Object.keys(scalar.rules).length > 0) rules["keys"] = scalar.rules;
      const types = typesOf(flat.schema);
      if (flat.lost.length === 0 && (types.length === 0 || types.includes("string"))) {
        this.#rest(flat.schema, flat.pointer, new Set(["type", "nullable", ...scalar.said]), stray.string);
        said.add("propertyNames");
      }
    }
    if (Object.keys(of.rules).length > 0) rules["values"] = of.rules;
    this.#rest(schema, pointer, said, stray.object);
    return {
      kind: "map",
      of,
      rules: Object.keys(rules).length === 0 ? {} : ({ type: { case: "map", value: rules } } as Rules),
      nullable: false,
    };
  }

  #object({ schema, pointer }: Place & { readonly schema: JsonObject }, message: MessageShape): Shape {
    const named = Object.assign(message, { name: pointer === "" ? message.name : this.#taken(message.name) });
    const properties = isObject(schema["properties"]) ? schema["properties"] : {};
    const required = new Set(list(schema["required"]).filter((name) => typeof name === "string"));
    const said = new Set(["type", "nullable", "properties", "required"]);
    const { additionalProperties: rest, unevaluatedProperties: unevaluated } = schema;
    const composed = ["anyOf", "oneOf", "if", "dependentSchemas", "patternProperties", "not"].some((keyword) => keyword in schema);
    const closed =
      (rest === false && schema["patternProperties"] === undefined) || (rest === undefined && unevaluated === false && !composed);
    if (closed) said.add("additionalProperties").add("unevaluatedProperties");
    message.comment = commentOf(schema);
    message.open = !closed;
    const fields: FieldShape[] = [];
    message.fields = fields;
    for (const [name, property] of Object.entries(properties)) {
      const place = { schema: property, pointer: pointTo(pointer, "properties", name) };
      const prefix = pointer === "" ? "" : named.name;
      fields.push({
        jsonName: name,
        shape: this.#shape(place, `${prefix}${pascalCase(name)}`),
        required: required.delete(name),
        comment: commentOf(property),
      });
    }
    for (const name of required)
      if (closed) this.#lost(pointer, "required");
      else fields.push({ jsonName: name as string, shape: { kind: "value", rules: {}, nullable: false }, required: true, comment: "" });
    this.#rest(schema, pointer, said, stray.object);
    return { kind: "message", message, rules: {}, nullable: false };
  }

  #union({ schema, pointer }: Place & { readonly schema: JsonObject }, keyword: string, message: MessageShape): Shape {
    const since = this.#recorded.length;
    const all = list(schema[keyword]).map((branch, index) => {
      const place = { schema: branch, pointer: pointTo(pointer, keyword, index) };
      return { place, flat: flatten(place, this.#source) };
    });
    const nulls = all.filter(({ flat }) => flat.lost.length === 0 && isNull(flat.schema));
    const branches = all.filter((branch) => !nulls.includes(branch));
    const nullable = nulls.length > 0;
    const [first] = branches;
    if (first === undefined || (keyword === "oneOf" && nulls.length > 1)) return this.#value({ schema, pointer }, since);
    if (branches.length === 1) {
      const shape = this.#shape(first.place, message.name);
      // Exactly one branch may accept null.
      if (keyword === "oneOf" && nullable && (shape.nullable || shape.kind === "value")) return this.#value({ schema, pointer }, since);
      return { ...shape, nullable: nullable || shape.nullable };
    }
    const strings = stringValues(branches.map(({ flat }) => flat.schema));
    if (strings !== undefined && (keyword === "anyOf" || new Set(strings).size === strings.length))
      return { ...this.#scalar(stringScalar({ enum: strings }, false), { schema: { enum: strings }, pointer }), nullable };
    const found = discriminator(
      branches.map(({ flat }) => flat.schema),
      this.#source,
    );
    if (found === undefined || branches.some(({ flat }) => flat.lost.length > 0)) return this.#value({ schema, pointer }, since);
    Object.assign(message, { name: this.#taken(message.name), variants: true, comment: commentOf(schema) });
    const fields: FieldShape[] = [];
    message.fields = fields;
    for (const [index, { place }] of branches.entries()) {
      const jsonName = found.values[index]?.[0] ?? String(index);
      const shape = this.#shape(place, `${message.name}${pascalCase(jsonName)}`);
      if (shape.kind !== "message" || shape.nullable || shape.message.variants) {
        message.variants = false;
        return this.#value({ schema, pointer }, since);
      }
      fields.push({ jsonName, shape, required: false, comment: "" });
    }
    return { kind: "message", message, rules: {}, nullable };
  }

  /** Any JSON, with what CEL can check. */
  #value(place: Place, since?: number): Shape {
    if (since !== undefined) this.#forget(place.pointer, since);
    const expression = celExpression(place, this.#cel);
    return { kind: "value", rules: cel(expression), nullable: false };
  }

  /** Drops the residual keywords of a conversion that is not used after all, which were recorded since. */
  #forget(pointer: string, since: number): void {
    for (const key of this.#recorded.splice(since)) {
      const at = this.#residual.get(key)?.pointer;
      if (at === pointer || at?.startsWith(`${pointer}/`) === true) this.#residual.delete(key);
      else this.#recorded.push(key);
    }
  }
}

/** The rule for an expression. `implied` is what the type already guarantees. */
function cel(expression: string | undefined, implied?: string): Rules {
  return expression === undefined || expression === implied ? {} : { cel: [{ id: "schema", message: "must fit the schema", expression }] };
}

function withoutTypes(schema: JsonObject, type: string): JsonObject {
  return { ...schema, type };
}
