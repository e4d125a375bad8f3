import { type DescField, type DescMessage, getExtension, type Message, type Registry, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/** Options as text: `deprecated = true`, `(buf.validate.field).string.min_len = 1`. `nameOf` returns the name of an extension. */
export function optionTexts(options: Message, schema: DescMessage, registry: Registry, nameOf: (full: string) => string): string[] {
  const texts: string[] = [];
  const message = reflect(schema, options);
  for (const field of message.fields) if (message.isSet(field)) texts.push(...memberTexts(field.name, field, message));
  for (const number of new Set(options.$unknown?.map(({ no }) => no))) {
    const extension = registry.getExtensionFor(schema, number);
    if (extension === undefined) continue;
    const name = `(${nameOf(extension.typeName)})`;
    const value: unknown = getExtension(options as never, extension as never);
    if (extension.fieldKind === "message") texts.push(...messageTexts(name, reflect(extension.message, value as Message)));
    else texts.push(`${name} = ${extension.fieldKind === "list" ? "[]" : scalarText(value, extension)}`);
  }
  return texts;
}

/** A message as assignments to its members, or as one aggregate if it has a list of scalars. */
function messageTexts(path: string, message: ReflectMessage): string[] {
  const set = message.fields.filter((field) => message.isSet(field));
  const aggregate = set.length === 0 || set.some((field) => field.fieldKind === "list" && field.listKind !== "message");
  if (aggregate) return [`${path} = ${aggregateText(message)}`];
  return set.flatMap((field) => memberTexts(`${path}.${field.name}`, field, message));
}

function memberTexts(path: string, field: DescField, message: ReflectMessage): string[] {
  const value: unknown = message.get(field);
  if (field.fieldKind === "message") return messageTexts(path, value as ReflectMessage);
  if (field.fieldKind !== "list") return [`${path} = ${scalarText(value, field)}`];
  return [...(value as Iterable<unknown>)].map((each) => `${path} = ${elementText(each, field)}`);
}

function aggregateText(message: ReflectMessage): string {
  const members = message.fields
    .filter((field) => message.isSet(field))
    .map((field) => {
      const value: unknown = message.get(field);
      if (field.fieldKind !== "list") return `${field.name}: ${elementText(value, field)}`;
      return `${field.name}: [${[...(value as Iterable<unknown>)].map((each) => elementText(each, field)).join(", ")}]`;
    });
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function elementText(value: unknown, field: DescField): string {
  const isMessage = field.fieldKind === "message" || (field.fieldKind === "list" && field.listKind === "message");
  return isMessage ? aggregateText(value as ReflectMessage) : scalarText(value, field);
}

function scalarText(value: unknown, field: Pick<DescField, "enum" | "scalar">): string {
  if (field.enum !== undefined) return field.enum.value[value as number]?.name ?? String(value);
  if (field.scalar === ScalarType.BYTES) return bytesText(value as Uint8Array);
  if (typeof value === "string") return quoted(value);
  if (value === Number.POSITIVE_INFINITY) return "inf";
  if (value === Number.NEGATIVE_INFINITY) return "-inf";
  return Object.is(value, -0) ? "-0.0" : String(value);
}

function bytesText(bytes: Uint8Array): string {
  return `"${[...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}"`;
}

const controls = /[\p{Cc}"\\\u2028\u2029]/gu;

/** A string literal of protobuf. */
export function quoted(text: string): string {
  const escaped = text.replace(controls, (character) => {
    if (character === "\n") return "\\n";
    if (character === '"' || character === "\\") return `\\${character}`;
    const code = character.charCodeAt(0);
    return code < 128 ? `\\${code.toString(8).padStart(3, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
  return `"${escaped}"`;
}
