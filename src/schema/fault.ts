import { Fault, protoMcpCodes } from "../core/index.js";

/** proto-mcp's code for a schema that cannot be used. */
export const SCHEMA_UNRESOLVED: number = protoMcpCodes.schemaUnresolved;

/** The fault of a schema that cannot be used, with the JSON pointer of the problem. */
export function badSchema(message: string, pointer: string, cause?: unknown): Fault {
  const place = pointer === "" ? "the schema" : `the schema at ${pointer}`;
  return new Fault("invalid-params", `${place} ${message}`, {
    rpcCode: SCHEMA_UNRESOLVED,
    data: { reason: "schema", pointer },
    cause,
  });
}

/** The fault of a value that does not fit its message, or of a message that is not a value of its schema. */
export function badValue(message: string, path: string): Fault {
  return new Fault("invalid-params", `${path}: ${message}`, { data: { reason: "value", path } });
}

/** Extends a JSON pointer. */
export function pointTo(pointer: string, ...names: readonly (string | number)[]): string {
  return names.reduce<string>((sum, name) => `${sum}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`, pointer);
}
