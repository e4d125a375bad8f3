import { type Field, type FieldOptions, field, type Kind } from "../protobuf/index.js";

// Field numbers of Anywire's additions to mcp.v1, and the fields that many of its messages have.

/** The number of a twin is 100 more than its field's. */
export const TWIN = 100;
export const OTHERS_NUMBER = 1000;

/** A field with a twin. */
export function withTwin(kind: Kind, member: string, number: number, options: FieldOptions = {}): Field {
  return field(kind, member, number, { twin: number + TWIN, ...options });
}

const added = true;

/** `_meta` of a request. */
export const requestMeta = (number: number, options: FieldOptions = { added }): Field =>
  withTwin("message", "_meta", number, { name: "meta", of: "RequestMeta", ...options });

/** Any other `_meta`. */
export const anyMeta = (number: number): Field => withTwin("struct", "_meta", number, { name: "meta", added });

/** The fields of a request that was asked to come again. */
export const retryFields = (number: number): readonly Field[] => [
  withTwin("struct", "inputResponses", number, { added }),
  field("string", "requestState", number + 1, { added }),
];
