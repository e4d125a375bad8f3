import fc, { type Arbitrary } from "fast-check";
import type { DialectOptions, Field, Kind, MessageSpec } from "../../src/codec/protobuf/index.js";

/** A dialect, and the folder of its proto. */
export interface Described extends DialectOptions {
  readonly proto: string;
  /** Values of members that the table does not tell enough of. */
  readonly samples?: Readonly<Record<string, Arbitrary<unknown>>>;
}

const text = fc.string({ unit: "grapheme", maxLength: 8 });
const name = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom("__proto__", "", "toString"));
const bytes = fc.uint8Array({ maxLength: 12 });
const jsonValue = fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value)));

/** Objects that a message can hold, by its table alone. */
export function valuesOf(dialect: Described, message: MessageSpec): Arbitrary<Record<string, unknown>> {
  const names = new Set(message.fields.flatMap(({ oneof }) => (oneof === undefined ? [] : [oneof])));
  const oneofs = [...names].map((name) => message.fields.filter(({ oneof }) => oneof === name));
  const alone = message.fields.filter(({ oneof }) => oneof === undefined);
  const record = fc.record(Object.fromEntries(alone.map((field) => [field.member, memberOf(dialect, field)])), {
    requiredKeys: alone.filter(({ initial }) => initial !== undefined).map(({ member }) => member),
    noNullPrototype: true,
  });
  const chosen = oneofs.map((fields) =>
    fc.option(fc.oneof(...fields.map((field) => memberOf(dialect, field).map((value) => [field.member, value] as const))), {
      nil: undefined,
    }),
  );
  return fc.tuple(record, fc.tuple(...chosen)).map(([members, more]) => {
    for (const entry of more) if (entry !== undefined) members[entry[0]] = entry[1];
    return members;
  });
}

/** Values of proto3 fields without presence are not told from none, so that none of them is the default. */
function memberOf(dialect: Described, field: Field): Arbitrary<unknown> {
  const { kind, of } = field;
  const sample = dialect.samples?.[field.member];
  if (sample !== undefined) return sample;
  const bare = field.initial === undefined && field.oneof === undefined;
  switch (kind) {
    case "enums":
      return fc.array(memberOf(dialect, { ...field, kind: "enum" }), { minLength: 1, maxLength: 3 });
    case "strings":
      return fc.array(text, { maxLength: 3 });
    case "messages":
      return fc.array(messageOf(dialect, of), { maxLength: 2 });
    case "map":
      return fc.dictionary(name, memberOf(dialect, { ...field, kind: field.values ?? "string", oneof: "entry" }), {
        minKeys: 1,
        maxKeys: 3,
        noNullPrototype: true,
      });
    case "message":
      return messageOf(dialect, of);
    case "enum":
      return fc.constantFrom(...(dialect.enums?.[of ?? ""]?.slice(1) ?? []));
    default:
      return bare ? scalar(kind).filter((value) => !isDefault(value)) : scalar(kind);
  }
}

function isDefault(value: unknown): boolean {
  return value === "" || value === 0 || value === false || (value instanceof Uint8Array && value.length === 0);
}

function messageOf(dialect: Described, name: string | undefined): Arbitrary<Record<string, unknown>> {
  const message = dialect.messages.find((each) => each.name === name);
  if (message === undefined) throw new Error(`no message ${name}`);
  return valuesOf(dialect, message);
}

function scalar(kind: Kind): Arbitrary<unknown> {
  switch (kind) {
    case "string":
      return text;
    case "bool":
      return fc.boolean();
    case "int32":
      return fc.integer();
    case "int64":
      return fc.maxSafeInteger();
    case "uint64":
      return fc.maxSafeNat();
    case "double":
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value));
    case "octets":
      return bytes.map((value) => Buffer.from(value).toString("base64"));
    case "bytes":
      return bytes;
    case "struct":
      return fc.dictionary(name, jsonValue, { maxKeys: 3, noNullPrototype: true });
    case "value":
      return jsonValue;
    case "packed":
      return fc.record({ typeUrl: text, value: bytes }, { noNullPrototype: true });
    default:
      throw new Error(`no values of the kind ${kind}`);
  }
}
