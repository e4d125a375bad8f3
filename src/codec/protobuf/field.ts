/** How a JSON value stands in a field. What does not fit goes to the dialect's field for other members. */
export type Kind =
  | "string" // a well-formed string ↔ string, or bytes that hold its UTF-8
  | "bool"
  | "int32" // an integer in range
  | "int64" // a safe integer
  | "uint64" // a safe integer that is not negative
  | "double"
  | "enum" // the name of a value ↔ the enum `of`
  | "enums" // an array of names ↔ repeated enum `of`; with `several`, one ↔ the enum at `number`, more ↔ repeated at `several`
  | "octets" // canonical base64 ↔ bytes
  | "bytes" // a Uint8Array ↔ bytes, or a message that nobody looks into
  | "time" // RFC 3339 as Date writes it ↔ Timestamp
  | "id" // a string or a number ↔ its text, with a flag for numbers at `flag`
  | "token" // a string or a safe integer ↔ a message with string 1 or int64 2
  | "constant" // written as it is, and read as `initial` whatever a peer wrote
  | "struct" // an object ↔ Struct
  | "value" // anything ↔ Value
  | "any" // anything ↔ Any of Value
  | "packed" // { typeUrl, value: Uint8Array } ↔ Any, whatever is in it
  | "typed" // an object ↔ Any of Struct; `{ "@type", "value" }`, the value in base64 ↔ Any of that type
  | "anys" // an object ↔ a message with map<string, Any> 1
  | "metadata" // an object of strings ↔ a message with map<string, string> 1
  | "strings" // ↔ repeated string
  | "map" // an object ↔ map<string, string>, or with values of the kind `values`
  | "message" // an object ↔ the message `of`
  | "messages"; // an array of objects ↔ repeated `of`

/** Kinds of a map's values: one field each. */
export type ValueKind = Exclude<Kind, "enums" | "id" | "constant" | "strings" | "map" | "messages">;

export interface Field {
  /** The JSON member, or, where `lift` is set, the member of `_meta`. */
  readonly member: string;
  readonly name: string;
  readonly number: number;
  readonly kind: Kind;
  /** The message or enum of the dialect that the field, or a map's value, is of. */
  readonly of?: string;
  /** What the values of a map are; strings unless given. */
  readonly values?: ValueKind;
  /** The number of the field that holds the same value as JSON. */
  readonly twin?: number;
  /** What the member is if a peer that leaves out defaults leaves it out. */
  readonly initial?: unknown;
  /** It is a member of `_meta`. */
  readonly lift?: true;
  /** Of these, a message holds one. */
  readonly oneof?: string;
  /** `member` is an object whose own member this is. */
  readonly part?: string;
  /** The object has as many of its members as there are, and without any it is empty. */
  readonly open?: true;
  /** It is the field for objects whose `type` is this. */
  readonly when?: string;
  readonly several?: number;
  readonly flag?: number;
  /** Not in the base: Anywire added it. */
  readonly added?: true;
}

export interface MessageSpec {
  readonly name: string;
  /** What it stands for, for the page. */
  readonly stands: string;
  readonly fields: readonly Field[];
  /** By the value of the JSON member `type`: the field whose message has the other members. */
  readonly variants?: readonly (Field & { readonly when: string })[];
  /** The number of the map that takes members with no field of their own that are strings. */
  readonly rest?: number;
}

export type FieldOptions = Omit<Field, "member" | "name" | "number" | "kind"> & { readonly name?: string };

/** A field, by the JSON name of its member. */
export function field(kind: Kind, member: string, number: number, options: FieldOptions = {}): Field {
  return { member, name: member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), number, kind, ...options };
}
