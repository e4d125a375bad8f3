import { isObject, type JsonObject } from "../../core/index.js";
import { ruleLimits } from "../limits.js";
import { flatten, list, typesOf } from "../read/merge.js";
import type { SchemaSource } from "../read/source.js";
import { isJsonName } from "./names.js";

const surrogate = /\p{Surrogate}/u;

/** The property that distinguishes several objects, and the values that select each. */
export interface Discriminator {
  readonly name: string;
  readonly values: readonly (readonly string[])[];
}

/** Finds a property that every branch requires, with texts that no other branch has. */
export function discriminator(branches: readonly JsonObject[], source: SchemaSource): Discriminator | undefined {
  const [first] = branches;
  if (first === undefined || !branches.every((branch) => branch["type"] === "object" || isObject(branch["properties"]))) return undefined;
  for (const name of list(first["required"])) {
    if (typeof name !== "string" || !isJsonName(name)) continue;
    const values = branches.map((branch) => texts(branch, name, source));
    const all = values.flat();
    if (values.every((each) => each.length > 0) && new Set(all).size === all.length) return { name, values };
  }
  return undefined;
}

function texts(branch: JsonObject, name: string, source: SchemaSource): string[] {
  const properties = branch["properties"];
  if (!list(branch["required"]).includes(name) || !isObject(properties) || !Object.hasOwn(properties, name)) return [];
  const { schema } = flatten({ schema: properties[name], pointer: "" }, source);
  if ("type" in schema && !typesOf(schema).includes("string")) return [];
  const values = "const" in schema ? [schema["const"]] : list(schema["enum"]);
  // The rule of the field has to list them, because it is what tells the messages apart.
  const listed = values.length <= ruleLimits.enumValues && values.every((value) => typeof value === "string" && !surrogate.test(value));
  return listed ? (values as string[]) : [];
}
