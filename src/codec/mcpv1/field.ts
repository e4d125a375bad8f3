/** How a JSON value stands in a field. What does not fit goes to `other_members`. */
export type Kind =
  | "string" // a well-formed string
  | "bool"
  | "int32" // an integer in range
  | "int64" // a safe integer
  | "double"
  | "role" // "user" | "assistant" ↔ Role
  | "audience" // ["user"] ↔ Role at `number`, several ↔ repeated Role at `several`
  | "change" // "created" | "modified" | "deleted" ↔ ResourceChangeType
  | "octets" // canonical base64 ↔ bytes
  | "time" // RFC 3339 as Date writes it ↔ Timestamp
  | "id" // a string or a number ↔ its text, with a flag for numbers at `flag`
  | "token" // a string or a safe integer ↔ ProgressToken
  | "constant" // written as it is, and read as `initial` whatever a peer wrote
  | "struct" // an object ↔ Struct
  | "value" // anything ↔ Value
  | "any" // anything ↔ Any of Value
  | "anys" // an object ↔ ExperimentalCapabilities
  | "metadata" // an object of strings ↔ Metadata
  | "strings" // ↔ repeated string
  | "map" // an object of strings ↔ map<string, string>
  | "message" // an object ↔ the message `of`
  | "messages"; // an array of objects ↔ repeated `of`

export interface Field {
  /** The JSON member, or, where `lift` is set, the member of `_meta`. */
  readonly member: string;
  readonly name: string;
  readonly number: number;
  readonly kind: Kind;
  readonly of?: string;
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

export interface Message {
  readonly name: string;
  /** What it stands for, for the page. */
  readonly stands: string;
  readonly fields: readonly Field[];
  /** By the value of the JSON member `type`: the field whose message has the other members. */
  readonly variants?: readonly (Field & { readonly when: string })[];
  /** The number of the map that takes members with no field of their own that are strings. */
  readonly rest?: number;
}

type Options = Omit<Field, "member" | "name" | "number" | "kind">;

/** The number of a twin is 100 more than its field's. */
export const TWIN = 100;
export const OTHER_MEMBERS = 1000;

export function field(kind: Kind, member: string, number: number, options: Options & { readonly name?: string } = {}): Field {
  return { member, name: member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), number, kind, ...options };
}

/** A field with a twin. */
export function twinned(kind: Kind, member: string, number: number, options: Options & { readonly name?: string } = {}): Field {
  return field(kind, member, number, { twin: number + TWIN, ...options });
}

const added = true;

/** `_meta` of a request. */
export const requestMeta = (number: number, options: Options = { added }): Field =>
  twinned("message", "_meta", number, { name: "meta", of: "RequestMeta", ...options });

/** Any other `_meta`. */
export const anyMeta = (number: number): Field => twinned("struct", "_meta", number, { name: "meta", added });

/** What a request brings that was asked to come again. */
export const answers = (number: number): readonly Field[] => [
  twinned("struct", "inputResponses", number, { added }),
  field("string", "requestState", number + 1, { added }),
];
