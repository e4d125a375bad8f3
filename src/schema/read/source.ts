import { ExactNumber, isObject, type JsonObject, schemaLimits } from "../../core/index.js";
import { badSchema, pointTo } from "../fault.js";

/** A schema within a schema, and its JSON pointer. */
export interface Place {
  readonly schema: unknown;
  readonly pointer: string;
}

/** One schema document: resolves its references, and counts the cost of reading it. Nothing outside it is ever fetched. */
export class SchemaSource {
  readonly root: JsonObject;
  /** Keywords that its dialect does not have, so that ajv ignores them. */
  readonly #unknown: ReadonlySet<string>;
  #resources: Resources | undefined;
  #left: number = schemaLimits.schemaSteps;

  /** Throws a Fault for a schema that is too large or too deep. */
  constructor(root: JsonObject) {
    measure(root);
    this.root = root;
    this.#unknown = new Set(/draft-07/.test(String(root["$schema"])) ? notInDraft07 : ["additionalItems"]);
  }

  /** To be called for each schema that is visited. */
  spend(pointer: string, steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0)
      throw badSchema(
        `is too costly to convert: its references and combinations make more than ${schemaLimits.schemaSteps} schemas`,
        pointer,
        { limit: "schemaSteps" },
      );
  }

  /** A schema without the keywords that its dialect does not have. */
  understood(schema: unknown): unknown {
    if (!isObject(schema) || !Object.keys(schema).some((keyword) => this.#unknown.has(keyword))) return schema;
    return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !this.#unknown.has(keyword)));
  }

  resolve(reference: unknown, from: string): Place {
    if (typeof reference !== "string") throw badSchema("has a $ref that is no text", from);
    this.#resources ??= resourcesOf(this.root);
    const { ids, anchors } = this.#resources;
    const hash = reference.indexOf("#");
    const [address, fragment] = hash < 0 ? [reference, ""] : [reference.slice(0, hash), reference.slice(hash + 1)];
    const base = address === "" ? enclosing(from, ids) : ids.get(address);
    if (base === undefined)
      throw badSchema(
        `refers to ${JSON.stringify(shortened(reference))}, which is outside of it. Such references are never fetched; put the schema under $defs`,
        from,
      );
    const place =
      fragment === "" || fragment.startsWith("/") ? at(base, decoded(fragment, from)) : anchors.get(`${base.pointer}#${fragment}`);
    if (place === undefined) throw badSchema(`refers to ${JSON.stringify(shortened(reference))}, which is not in it`, from);
    if (!isObject(place.schema) && typeof place.schema !== "boolean")
      throw badSchema(`refers to ${JSON.stringify(shortened(reference))}, which is no schema`, from);
    return place;
  }
}

const notInDraft07 = [
  "prefixItems",
  "unevaluatedItems",
  "unevaluatedProperties",
  "minContains",
  "maxContains",
  "dependentRequired",
  "dependentSchemas",
  "$dynamicRef",
];

/** The schemas that have an address of their own: by their $id and by their place, and anchors by the place of the schema they are in. */
interface Resources {
  readonly ids: ReadonlyMap<string, Place>;
  readonly anchors: ReadonlyMap<string, Place>;
}

/** Keywords with a value that is not a schema, whatever it looks like, and those with schemas by name. */
const notSchemas = new Set(["default", "examples", "example", "const", "enum", "required"]);
const byName = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"]);

function resourcesOf(root: JsonObject): Resources {
  const ids = new Map<string, Place>();
  const anchors = new Map<string, Place>();
  const look = (schema: unknown, pointer: string, base: string, named: boolean): void => {
    if (typeof schema !== "object" || schema === null || schema instanceof ExactNumber) return;
    const { $id, $anchor, $dynamicAnchor } = named || Array.isArray(schema) ? {} : (schema as JsonObject);
    const isLocal = typeof $id === "string" && $id.startsWith("#");
    const own = pointer === "" || (typeof $id === "string" && $id !== "" && !isLocal) ? pointer : base;
    if (own === pointer && !named) {
      ids.set(`#${pointer}`, { schema, pointer });
      if (typeof $id === "string") ids.set($id.replace(/#$/, ""), { schema, pointer });
    }
    for (const anchor of [$anchor, $dynamicAnchor, isLocal ? $id.slice(1) : undefined])
      if (typeof anchor === "string") anchors.set(`${own}#${anchor}`, { schema, pointer });
    for (const [key, value] of Object.entries(schema))
      if (named || !notSchemas.has(key)) look(value, pointTo(pointer, key), own, !named && byName.has(key));
  };
  look(root, "", "", false);
  return { ids, anchors };
}

/** The innermost schema with an $id around a place. */
function enclosing(pointer: string, ids: ReadonlyMap<string, Place>): Place | undefined {
  for (let outer = pointer; ; outer = outer.slice(0, outer.lastIndexOf("/"))) {
    const found = ids.get(`#${outer}`);
    if (found !== undefined || outer === "") return found;
  }
}

function at(base: Place, pointer: string): Place | undefined {
  let schema: unknown = base.schema;
  for (const raw of pointer.split("/").slice(1)) {
    const name = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof schema !== "object" || schema === null || !Object.hasOwn(schema, name)) return undefined;
    schema = (schema as JsonObject)[name];
  }
  return { schema, pointer: base.pointer + pointer };
}

function decoded(fragment: string, from: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    throw badSchema("has a $ref that is no URI", from);
  }
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Walks through the whole document once, without recursion, because the sender chooses its depth. */
function measure(root: JsonObject): void {
  const { schemaDepth, schemaValues, schemaChars } = schemaLimits;
  let values = 0;
  let characters = 0;
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > schemaDepth) throw badSchema(`is nested more than ${schemaDepth} levels deep`, "", { limit: "schemaDepth" });
    const next: unknown[] = [];
    for (const value of level) {
      values++;
      if (typeof value === "string") characters += value.length;
      else if (value instanceof ExactNumber) characters += value.text.length;
      else if (Array.isArray(value)) for (const each of value) next.push(each);
      else if (isObject(value))
        for (const [name, each] of Object.entries(value)) {
          characters += name.length;
          next.push(each);
        }
      if (values + next.length > schemaValues) throw badSchema(`has more than ${schemaValues} values`, "", { limit: "schemaValues" });
    }
    if (characters > schemaChars) throw badSchema(`has more than ${schemaChars} characters`, "", { limit: "schemaChars" });
    level = next;
  }
}
