import { create, type DescField, type DescMessage, ScalarType, toJson } from "@bufbuild/protobuf";
import { type Exact, exact, textOf } from "../json.js";

/** A message of protobuf-es as plain members. */
export type Plain = Record<string, unknown>;
export type Members = (readonly [string, Exact])[];

const utf8 = new TextEncoder();
const text = (bytes: unknown): string => new TextDecoder().decode(bytes as Uint8Array);
export const bytesOf = (value: Exact): Uint8Array => utf8.encode(textOf(value));
export const jsonOf = (bytes: unknown): Exact => exact(text(bytes));
export const object = (members: Members): Exact => ({ kind: "object", members });
const string = (value: string): Exact => ({ kind: "string", value });

const roles = ["", "user", "assistant"];
/** Which field of `Content` a type is, and which of its members are in there. */
const contents: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  text: ["text", ["text"]],
  image: ["image", ["data", "mimeType"]],
  audio: ["audio", ["data", "mimeType"]],
  resource: ["resource", ["resource"]],
  resource_link: ["resourceLink", ["uri", "name", "title", "description", "mimeType", "size", "icons"]],
};

/** An object as a message of the table in docs/mapping: what has a field that fits goes there, the rest to `other_members`. */
export function toMessage(desc: DescMessage, members: Members): Plain {
  const message = create(desc) as unknown as Plain;
  const others: Members = [];
  for (const [name, value] of desc.name === "Content" ? contentMembers(desc, message, members) : members) {
    // Of a content without a type no member is what the field of that name is for.
    const field = desc.fields.find((one) => jsonName(one) === name && !(desc.name === "Content" && one.oneof !== undefined));
    const twin = desc.fields.find((one) => field !== undefined && one.name === `${field.name}_json`);
    const fitting = twin !== undefined ? twinOf(field, value) : field === undefined ? undefined : fitted(desc, field, value);
    if (fitting === undefined) others.push([name, value]);
    else put(message, (twin ?? field) as DescField, fitting);
  }
  if (desc.field["otherMembers"] !== undefined) message["otherMembers"] = bytesOf(object(others));
  return message;
}

/** Any JSON, but where the field is for an object only that. */
function twinOf(field: DescField | undefined, value: Exact): Uint8Array | undefined {
  const any = field?.fieldKind === "message" && /Value$|Any$/.test(field.message.typeName);
  return any || value.kind === "object" ? bytesOf(value) : undefined;
}

function contentMembers(desc: DescMessage, message: Plain, members: Members): Members {
  const type = new Map(members).get("type");
  const [name, inside] = (type?.kind === "string" ? contents[type.value] : undefined) ?? [];
  if (name === undefined || inside === undefined) return members;
  const field = desc.field[name] as DescField & { message: DescMessage };
  put(
    message,
    field,
    toMessage(
      field.message,
      members.filter(([member]) => inside.includes(member)),
    ),
  );
  return members.filter(([member]) => member !== "type" && !inside.includes(member));
}

export function put(message: Plain, field: DescField, value: unknown): void {
  if (field.oneof !== undefined) message[field.oneof.localName] = { case: field.localName, value };
  else message[field.localName] = value;
}

function jsonName({ name, localName }: DescField): string {
  return name === "meta" ? "_meta" : name.endsWith("_json") || name === "other_members" ? "" : localName;
}

/** What a field holds of a value; undefined if it does not fit. */
function fitted(desc: DescMessage, field: DescField, value: Exact): unknown {
  if (desc.name === "ContentAnnotations" && /^(audience|roles)$/.test(field.name)) return undefined;
  if (field.fieldKind === "message" && value.kind === "object" && !field.message.typeName.startsWith("google."))
    return toMessage(field.message, [...value.members]);
  if (field.fieldKind === "list" && field.listKind === "message" && value.kind === "array" && value.items.length > 0) {
    const { message } = field;
    return value.items.every((item) => item.kind === "object")
      ? value.items.map((item) => toMessage(message, [...item.members]))
      : undefined;
  }
  if (field.fieldKind === "enum" && value.kind === "string") return roles.indexOf(value.value) > 0 ? roles.indexOf(value.value) : undefined;
  if (field.fieldKind !== "scalar") return undefined;
  if (field.scalar === ScalarType.STRING) return value.kind === "string" && !/\p{Surrogate}/u.test(value.value) ? value.value : undefined;
  if (field.scalar === ScalarType.BOOL) return value.kind === "word" && value.text !== "null" ? value.text === "true" : undefined;
  if (value.kind !== "number" || value.text !== String(Number(value.text))) return undefined;
  if (field.scalar === ScalarType.DOUBLE) return Number(value.text);
  if (field.scalar === ScalarType.INT32) return (Number(value.text) | 0) === Number(value.text) ? Number(value.text) : undefined;
  return field.scalar === ScalarType.INT64 && Number.isSafeInteger(Number(value.text)) ? BigInt(value.text) : undefined;
}

/** The members of a JSON object in bytes, of which none are an empty one. */
export function membersIn(bytes: unknown): Members {
  const value = (bytes as Uint8Array | undefined)?.length ? jsonOf(bytes) : undefined;
  return value?.kind === "object" ? [...value.members] : [];
}

/** Lists that are there, and empty, where nothing is said of them. */
const required: Readonly<Record<string, string>> = {
  CallToolResponse: "content",
  ToolResult: "content",
  ReadResourceResponse: "contents",
  GetPromptResponse: "messages",
  CompletionResult: "values",
};

/** The object that a message stands for. */
export function fromMessage(desc: DescMessage, message: Plain): Members {
  const members: Members = [];
  const argument: Members = [];
  for (const field of desc.fields) {
    const choice = field.oneof === undefined ? undefined : (message[field.oneof.localName] as { case?: string; value?: unknown });
    const value = choice === undefined ? message[field.localName] : choice.case === field.localName ? choice.value : undefined;
    if (
      value === undefined ||
      (field.fieldKind === "list" && (value as unknown[]).length === 0) ||
      (field.fieldKind === "map" && Object.keys(value as object).length === 0)
    )
      continue;
    if (field.name === "other_members") members.push(...membersIn(value));
    else if (field.name.endsWith("_json"))
      members.push([field.name === "meta_json" ? "_meta" : camel(field.name.slice(0, -5)), jsonOf(value)]);
    else if (desc.name === "Content" && choice !== undefined) {
      members.push(["type", string(field.name)], ...fromMessage((field as { message: DescMessage }).message, value as Plain));
    } else if (desc.name === "CompleteRequest" && choice !== undefined)
      members.push(["ref", object(fromMessage((field as { message: DescMessage }).message, value as Plain))]);
    else if (field.name === "argument_name" || field.name === "argument_value")
      argument.push([field.name.slice(9), string(value as string)]);
    else if (field.name === "page_size_hint") continue;
    else
      members.push([desc.name === "ContentAnnotations" && field.name === "roles" ? "audience" : jsonName(field), read(desc, field, value)]);
  }
  const empty = message["otherMembers"] === undefined ? required[desc.name] : undefined;
  if (empty !== undefined && !members.some(([name]) => name === empty)) members.push([empty, { kind: "array", items: [] }]);
  if (argument.length > 0) members.push(["argument", object(argument)]);
  return members;
}

const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

function read(desc: DescMessage, field: DescField, value: unknown): Exact {
  if (field.fieldKind === "list") return { kind: "array", items: (value as unknown[]).map((item) => one(field, item)) };
  if (field.fieldKind === "map")
    return object(Object.entries(value as Record<string, string>).map(([name, item]) => [name, string(item)] as const));
  const read = one(field, value);
  return desc.name === "ContentAnnotations" && field.name === "audience" ? { kind: "array", items: [read] } : read;
}

function one(field: DescField, value: unknown): Exact {
  const message = "message" in field ? field.message : undefined;
  if (message?.typeName.startsWith("google.")) return exact(JSON.stringify(toJson(message, value as never)));
  if (message !== undefined) return object(fromMessage(message, value as Plain));
  if (value instanceof Uint8Array) return string(Buffer.from(value).toString("base64"));
  if (typeof value === "string") return string(value);
  // A number without a name stands for itself.
  const name = "enum" in field && field.enum !== undefined ? roles[value as number] : undefined;
  if (name !== undefined) return string(name);
  return exact(Object.is(value, -0) ? "-0" : String(value));
}
