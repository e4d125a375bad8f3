import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FieldRulesSchema } from "../../codec/gen/validate.js";

/** Rules of protovalidate for one field. */
export type Rules = Extract<MessageInitShape<typeof FieldRulesSchema>, { readonly $typeName?: never }>;

export type ScalarKind = "string" | "int32" | "int64" | "double" | "bool";

/** What a schema becomes as the type of a field. `nullable`: null is one of its values, beside those of the type. */
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

/** An object as a message; filled in while it is read, because it may have itself as a member. */
export interface MessageShape {
  /** Where its schema is: a JSON pointer. Field numbers are kept by this. */
  readonly key: string;
  readonly name: string;
  comment: string;
  fields: FieldShape[];
  /** Members that are no property are allowed. */
  open: boolean;
  /** The fields are the members of a oneof: the value is one of several objects. */
  variants: boolean;
}

/** What the value of a field can be, beside what protobuf can say of it. */
export function isCollection(shape: Shape): boolean {
  return shape.kind === "repeated" || shape.kind === "map";
}
