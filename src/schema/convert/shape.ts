import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FieldRulesSchema } from "../../codec/gen/validate.js";

/** Rules of protovalidate for one field. */
export type Rules = Extract<MessageInitShape<typeof FieldRulesSchema>, { readonly $typeName?: never }>;

export type ScalarKind = "string" | "int32" | "int64" | "double" | "bool";

/** The field type that a schema becomes. `nullable`: null is also allowed. */
export type Shape = (
  | { readonly kind: ScalarKind | "value" | "struct" | "list" }
  | { readonly kind: "message"; readonly message: MessageShape }
  | { readonly kind: "repeated" | "map"; readonly of: Shape }
) & { readonly rules: Rules; readonly nullable: boolean };

export interface FieldShape {
  readonly jsonName: string;
  readonly shape: Shape;
  readonly required: boolean;
  readonly comment: string;
}

/** An object as a message. It is filled in while it is read, because it may contain itself. */
export interface MessageShape {
  /** The JSON pointer of its schema. Field numbers are kept by it. */
  readonly key: string;
  readonly name: string;
  comment: string;
  fields: FieldShape[];
  /** Whether members without a property are allowed. */
  open: boolean;
  /** Whether the fields are the members of a oneof: the value is one of several objects. */
  variants: boolean;
}

/** Whether a shape is a list or a map. */
export function isCollection(shape: Shape): boolean {
  return shape.kind === "repeated" || shape.kind === "map";
}
