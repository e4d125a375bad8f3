import { isObject } from "../../core/index.js";
import type { Role } from "./table.js";
import { isText } from "./text.js";
import { DEEPEST } from "./value.js";
import { enumOf } from "./write-kinds.js";

/** Where in a value something does not fit, and why. */
export interface Misfit {
  /** The path from the value to it. */
  readonly path: string;
  readonly why: string;
}

const HALF = "it has half a surrogate pair";

/** Why a value does not fit a field of a kind that is not a message; undefined if it does. `inside` hears of what is deeper in it. */
export function misfit(role: Role, value: unknown, inside?: (found: Misfit) => void, names: readonly string[] = []): string | undefined {
  switch (role) {
    case "string":
    case "constant":
      return typeof value !== "string" ? "it is not a string" : isText(value) ? undefined : HALF;
    case "bool":
      return typeof value === "boolean" ? undefined : "it is no boolean";
    case "int32":
      return typeof value === "number" && Object.is(value, value | 0) ? undefined : "it is no integer of 32 bits";
    case "int64":
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? undefined : "it is no safe integer";
    case "double":
      return Number.isFinite(value) ? undefined : "it is no number";
    case "uint64":
      return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)
        ? undefined
        : "it is no safe integer from 0 up";
    case "enum":
      return enumOf(names, value) === undefined ? `it is none of ${names.slice(1).join(", ")}` : undefined;
    case "bytes":
      return value instanceof Uint8Array ? undefined : "it is no Uint8Array";
    case "time":
      return typeof value === "string" && !Number.isNaN(Date.parse(value)) ? undefined : "it is no time";
    case "id":
    case "token":
      return typeof value === "number" ? misfit("int64", value) : misfit("string", value);
    case "strings":
      return Array.isArray(value)
        ? each(
            value.map((element, at) => [`[${at}]`, element]),
            "string",
            inside,
          )
        : "it is not an array";
    case "map":
    case "metadata":
      return isObject(value)
        ? each(
            Object.entries(value).map(([name, member]) => [pathTo("", name), member, name]),
            "string",
            inside,
          )
        : "it is not an object";
    case "struct":
    case "anys":
      return isObject(value) ? misfit("value", value, inside) : "it is not an object";
    default: {
      const found = unwritable(value);
      if (found !== undefined && found.path !== "") inside?.(found);
      return found?.why;
    }
  }
}

function each(members: readonly (readonly [string, unknown, string?])[], role: Role, inside?: (found: Misfit) => void): string | undefined {
  for (const [path, member, name] of members) {
    const why = misfit(role, member) ?? (name === undefined ? undefined : misfit("string", name));
    if (why === undefined) continue;
    inside?.({ path, why });
    return why;
  }
  return undefined;
}

/** The first part of a JSON value that a Value cannot hold. */
function unwritable(value: unknown, depth = 0): Misfit | undefined {
  if (typeof value === "string") return isText(value) ? undefined : { path: "", why: HALF };
  if (typeof value !== "object" || value === null || depth > DEEPEST) return undefined;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const found = unwritable(value[at], depth + 1);
      if (found !== undefined) return { ...found, path: `[${at}]${found.path}` };
    }
    return undefined;
  }
  for (const [name, member] of Object.entries(value)) {
    const found = isText(name) ? unwritable(member, depth + 1) : { path: "", why: HALF };
    if (found !== undefined) return { ...found, path: pathTo("", name) + found.path };
  }
  return undefined;
}

/** The path of a member, as JavaScript would write it. */
export function pathTo(path: string, name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}
