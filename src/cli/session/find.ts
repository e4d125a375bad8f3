import { toFault } from "../../api/index.js";
import { Nearest, suggestion } from "../args/nearest.js";
import { absent } from "./mistake.js";

/**
 * Finds the element of a list by name. If there is none, throws an error with the nearest other name. Returns undefined if the server has
 * no such list, and so may still know the name.
 */
export async function find<T>(items: AsyncIterable<T>, nameOf: (item: T) => string, name: string, what: string): Promise<T | undefined> {
  const near = new Nearest(name);
  try {
    for await (const item of items) {
      if (nameOf(item) === name) return item;
      near.offer(nameOf(item));
    }
  } catch (error) {
    if (toFault(error).code === "unknown-method") return undefined;
    throw error;
  }
  throw absent(`the server has no ${what} ${JSON.stringify(name)}${suggestion(near.found) || `; anywire ${what}s lists them`}`);
}
