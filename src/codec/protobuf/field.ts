/** How a JSON value is stored in a field. A value that does not fit goes to the dialect's field for other members. */
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

/** Kinds for the values of a map: those with one field. */
export type ValueKind = Exclude<Kind, "enums" | "id" | "constant" | "strings" | "map" | "messages">;

export interface Field {
  /** The JSON member, or, if `lift` is set, the member of `_meta`. */
  readonly member: string;
  readonly name: string;
  readonly number: number;
  readonly kind: Kind;
  /** The message or enum of the dialect that is the type of the field, or of a map's values. */
  readonly of?: string;
  /** The kind of a map's values; strings unless given. */
  readonly values?: ValueKind;
  /** The number of the field that holds the same value as JSON. */
  readonly twin?: number;
  /** The member's value if a peer that omits defaults leaves it out. */
  readonly initial?: unknown;
  /** Whether it is a member of `_meta`. */
  readonly lift?: true;
  /** The name of its oneof: a message holds one of its fields. */
  readonly oneof?: string;
  /** Set if `member` is an object and this is the field of one of its members. */
  readonly part?: string;
  /** Whether the object may have any of its members, and is empty without them. */
  readonly open?: true;
  /** Set if it is the field for objects with this `type`. */
  readonly when?: string;
  readonly several?: number;
  readonly flag?: number;
  /** Whether it is an addition of Anywire, not in the base. */
  readonly added?: true;
}

export interface MessageSpec {
  readonly name: string;
  /** What it stands for, for the mapping page. */
  readonly stands: string;
  readonly fields: readonly Field[];
  /** By the value of the JSON member `type`: the field whose message has the other members. */
  readonly variants?: readonly (Field & { readonly when: string })[];
  /** The number of the map for string members that have no field of their own. */
  readonly rest?: number;
}

export type FieldOptions = Omit<Field, "member" | "name" | "number" | "kind"> & { readonly name?: string };

/** A field, by the JSON name of its member. */
export function field(kind: Kind, member: string, number: number, options: FieldOptions = {}): Field {
  return { member, name: member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), number, kind, ...options };
}
