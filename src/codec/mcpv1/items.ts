import type { JsonObject } from "../../core/index.js";
import type { Table } from "../protobuf/index.js";
import { mcpv1Table } from "./dialect.js";

/** The end of a stream: the result's members other than those that were streamed. */
export interface RestPart {
  readonly kind: "rest";
  readonly value: JsonObject;
}

/** The list methods and the message of their items. */
export const itemTables: ReadonlyMap<string, Table> = new Map([
  ["tools/list", mcpv1Table("Tool")],
  ["resources/list", mcpv1Table("Resource")],
  ["resources/templates/list", mcpv1Table("ResourceTemplate")],
  ["prompts/list", mcpv1Table("Prompt")],
]);

export function isListMethod(method: string | undefined): boolean {
  return method !== undefined && itemTables.has(method);
}
