import type { JsonObject } from "../../core/index.js";
import type { Table } from "../protobuf/index.js";
import { tableOf } from "./dialect.js";

/** The end of a stream: the result's members besides those that were streamed. */
export interface RestPart {
  readonly kind: "rest";
  readonly value: JsonObject;
}

/** The list methods and the message of their items. */
export const itemTables: ReadonlyMap<string, Table> = new Map([
  ["tools/list", tableOf("Tool")],
  ["resources/list", tableOf("Resource")],
  ["resources/templates/list", tableOf("ResourceTemplate")],
  ["prompts/list", tableOf("Prompt")],
]);

export function isListMethod(method: string | undefined): boolean {
  return method !== undefined && itemTables.has(method);
}
