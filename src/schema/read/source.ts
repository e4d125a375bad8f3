import { isObject, type JsonObject } from "../../core/index.js";
import { badSchema, pointTo } from "../fault.js";
import { schemaLimits } from "../limits.js";

/** A schema within a schema, and its JSON pointer. */
export interface Place {
  readonly schema: unknown;
  readonly pointer: string;
}

/** One schema document: resolves its references, and counts the cost of reading it. Nothing outside it is ever fetched. */
export class SchemaSource {
  readonly root: JsonObject;
  readonly #id: string | undefined;
  #anchors: Map<string, Place> | undefined;
  #left: number = schemaLimits.steps;

  /** Throws a Fault for a schema that is too large or too deep. */
  constructor(root: JsonObject) {
    measure(root);
    this.root = root;
    const id = root["$id"];
    this.#id = typeof id === "string" && id !== "" && !id.startsWith("#") ? id.replace(/#$/, "") : undefined;
  }

  /** To be called for each schema that is visited. */
  spend(pointer: string): void {
    if (--this.#left < 0)
      throw badSchema(`is too costly to convert: its references and combinations make more than ${schemaLimits.steps} schemas`, pointer);
  }

  resolve(reference: unknown, from: string): Place {
    if (typeof reference !== "string") throw badSchema("has a $ref that is no text", from);
    const own = this.#id !== undefined && reference.startsWith(this.#id) ? reference.slice(this.#id.length) || "#" : reference;
    if (!own.startsWith("#"))
      throw badSchema(
        `refers to ${JSON.stringify(shortened(reference))}, which is outside of it. Such references are never fetched; put the schema under $defs`,
        from,
      );
    const place = own === "#" || own.startsWith("#/") ? this.#at(decoded(own.slice(1), from)) : this.#anchor(own.slice(1));
    if (place === undefined) throw badSchema(`refers to ${JSON.stringify(shortened(reference))}, which is not in it`, from);
    return place;
  }

  #at(pointer: string): Place | undefined {
    let schema: unknown = this.root;
    for (const raw of pointer.split("/").slice(1)) {
      const name = raw.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof schema !== "object" || schema === null || !Object.hasOwn(schema, name)) return undefined;
      schema = (schema as JsonObject)[name];
    }
    return { schema, pointer };
  }

  #anchor(name: string): Place | undefined {
    if (this.#anchors === undefined) {
      const found = new Map<string, Place>();
      const look = (schema: unknown, pointer: string): void => {
        if (typeof schema !== "object" || schema === null) return;
        for (const [key, value] of Object.entries(schema)) {
          if ((key === "$anchor" || key === "$dynamicAnchor") && typeof value === "string") found.set(value, { schema, pointer });
          else if (key === "$id" && typeof value === "string" && value.startsWith("#")) found.set(value.slice(1), { schema, pointer });
          else look(value, pointTo(pointer, key));
        }
      };
      look(this.root, "");
      this.#anchors = found;
    }
    return this.#anchors.get(name);
  }
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
  let values = 0;
  let characters = 0;
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > schemaLimits.depth) throw badSchema(`is nested more than ${schemaLimits.depth} levels deep`, "");
    const next: unknown[] = [];
    for (const value of level) {
      values++;
      if (typeof value === "string") characters += value.length;
      else if (Array.isArray(value)) for (const each of value) next.push(each);
      else if (isObject(value))
        for (const [name, each] of Object.entries(value)) {
          characters += name.length;
          next.push(each);
        }
      if (values + next.length > schemaLimits.values) throw badSchema(`has more than ${schemaLimits.values} values`, "");
    }
    if (characters > schemaLimits.characters) throw badSchema(`has more than ${schemaLimits.characters} characters`, "");
    level = next;
  }
}
