import type { JsonObject } from "../json.js";

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A Standard Schema (version 1) of any library. If the library can also make JSON Schema, no other description is needed. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?:
      | {
          readonly input: (options: { readonly target: string }) => JsonObject;
          readonly output: (options: { readonly target: string }) => JsonObject;
        }
      | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[]; readonly value?: undefined };

/** A Standard Schema, or plain JSON Schema: 2020-12 unless `$schema` says draft-07. */
export type Schema = StandardSchema | JsonObject;

/** The value that a handler gets after the check: any object if the schema has no types. */
export type OutputOf<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer O }
    ? O
    : unknown
  : JsonObject;

/** The value that a schema accepts. */
export type InputOf<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly input: infer I }
    ? I
    : unknown
  : unknown;

export function isStandard(schema: Schema): schema is StandardSchema {
  return "~standard" in schema;
}
