import { encodeHeader } from "../../codec/index.js";
import { isObject, type JsonObject } from "../../core/index.js";
import { dropOldest } from "../../stream/index.js";
import { argumentAt, type ParamHeader, paramHeaders } from "./param-headers.js";

/** Tools that are remembered. */
const REMEMBERED = 10_000;

/** The mirrored arguments of the tools that lists have shown. The tools seen longest ago are forgotten first. */
export class ToolHeaders {
  readonly #known = new Map<string, readonly ParamHeader[]>();
  readonly #scanned = new WeakMap<object, ReturnType<typeof paramHeaders>>();

  /** Notes a tool of `owner`. Returns what is wrong with its annotations, if anything. */
  learn(tool: unknown, owner = ""): string | undefined {
    if (!isObject(tool) || typeof tool["name"] !== "string") return undefined;
    const key = keyOf(tool["name"], owner);
    const found = this.#scan(tool["inputSchema"]);
    if ("invalid" in found) {
      this.#known.delete(key);
      return found.invalid;
    }
    // Most tools have none. Only tools that have or had some are remembered.
    if (found.length > 0 || this.#known.has(key)) this.#remember(key, found);
    return undefined;
  }

  /** Remembers a tool even if it has no such arguments. */
  settle(name: string, owner = ""): void {
    if (!this.#known.has(keyOf(name, owner))) this.#remember(keyOf(name, owner), []);
  }

  /** The arguments that headers mirror; undefined if the tool is unknown. */
  of(name: unknown, owner = ""): readonly ParamHeader[] | undefined {
    return this.#known.get(keyOf(String(name), owner));
  }

  /** The headers of a tool call. */
  headers(params: JsonObject): Record<string, string> {
    const headers: Record<string, string> = {};
    for (const { header, path } of this.of(params["name"]) ?? []) {
      const value = argumentAt(params["arguments"], path);
      if (value !== undefined) headers[header] = encodeHeader(String(value));
    }
    return headers;
  }

  #scan(schema: unknown): ReturnType<typeof paramHeaders> {
    if (!isObject(schema)) return [];
    let found = this.#scanned.get(schema);
    if (found === undefined) this.#scanned.set(schema, (found = paramHeaders(schema)));
    return found;
  }

  #remember(key: string, found: readonly ParamHeader[]): void {
    this.#known.delete(key);
    this.#known.set(key, found);
    if (this.#known.size > REMEMBERED) dropOldest(this.#known);
  }
}

function keyOf(name: string, owner: string): string {
  return `${owner.length}:${owner}${name}`;
}
