import { Fault, fixedLimits, protoMcpCodes, schemaLimits } from "../core/index.js";

/** proto-mcp's code for a schema that cannot be used. */
export const SCHEMA_UNRESOLVED: number = protoMcpCodes.schemaUnresolved;

const limits: typeof schemaLimits & Pick<typeof fixedLimits, "messageValues"> = {
  ...schemaLimits,
  messageValues: fixedLimits.messageValues,
};

/** Why something of a schema is refused. */
export interface SchemaFaultOptions {
  readonly cause?: unknown;
  /** The limit that was reached. */
  readonly limit?: keyof typeof limits | undefined;
}

/** The members of `data` that name a limit. */
export function limitData({ limit }: SchemaFaultOptions): object | undefined {
  return limit === undefined ? undefined : { limit, max: limits[limit] };
}

/** The fault of a schema that cannot be used, with the JSON pointer of the problem. */
export function badSchema(message: string, pointer: string, options: SchemaFaultOptions = {}): Fault {
  const place = pointer === "" ? "the schema" : `the schema at ${pointer}`;
  return new Fault("invalid-params", `${place} ${message}`, {
    rpcCode: SCHEMA_UNRESOLVED,
    data: { reason: "schema", pointer, ...limitData(options) },
    cause: options.cause,
  });
}

/** The fault of a schema that is reached through too many others. */
export function longReference(pointer: string): Fault {
  return badSchema(`refers to a schema through more than ${schemaLimits.schemaDepth} others`, pointer, { limit: "schemaDepth" });
}

/** The fault of a value that does not fit its message, or of a message that is not a value of its schema. */
export function badValue(message: string, path: string, options: SchemaFaultOptions = {}): Fault {
  return new Fault("invalid-params", `${path}: ${message}`, { data: { reason: "value", path, ...limitData(options) } });
}

export function deepValue(path: string): Fault {
  return badValue(`is nested more than ${schemaLimits.valueDepth} levels deep`, path, { limit: "valueDepth" });
}

export function manyValues(path: string): Fault {
  return badValue("has too many values", path, { limit: "messageValues" });
}

/** Extends a JSON pointer. */
export function pointTo(pointer: string, ...names: readonly (string | number)[]): string {
  return names.reduce<string>((sum, name) => `${sum}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`, pointer);
}
