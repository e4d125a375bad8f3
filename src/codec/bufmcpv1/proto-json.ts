import { create, createRegistry, type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { isReflectList, isReflectMessage, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import {
  type Any,
  AnySchema,
  BoolValueSchema,
  BytesValueSchema,
  DoubleValueSchema,
  DurationSchema,
  EmptySchema,
  FieldMaskSchema,
  Int32ValueSchema,
  Int64ValueSchema,
  ListValueSchema,
  StringValueSchema,
  StructSchema,
  TimestampSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import { isObject, type JsonObject } from "../../core/index.js";
import { exceedsDepth, holdsMore, MOST_VALUES, tooManyValues } from "../depth.js";
import { MCPMessageSchema } from "../gen/buf/mcp/v1/mcp_pb.js";
import { malformed, octetsOf } from "../protobuf/index.js";
import { ADDED } from "./fields.js";

/** Messages of these types are JSON inside an Any. Anyone who has a schema of others is not here. */
const registry = createRegistry(
  ...[StructSchema, ValueSchema, ListValueSchema, EmptySchema, TimestampSchema, DurationSchema, FieldMaskSchema],
  ...[BoolValueSchema, BytesValueSchema, DoubleValueSchema, Int32ValueSchema, Int64ValueSchema, StringValueSchema],
);
// A message of another type is its bytes: `{ "@type": URL, "value": BASE64 }`. protobuf-es knows no such JSON, so on the way it is one of
// a type that it knows, with a mark that nobody can guess.
const MARK = crypto.randomUUID();
const AS_BYTES = `/${MARK}/${BytesValueSchema.typeName}`;
const LIST = `type.googleapis.com/${ListValueSchema.typeName}`;
const STRUCT = `type.googleapis.com/${StructSchema.typeName}`;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** `MCPMessage`s in protobuf's own JSON, from and to their bytes. */
export interface ProtoJson {
  read(text: Uint8Array, depth: number): Uint8Array;
  /** The id of a message that cannot be read; undefined if it has none. */
  id(text: Uint8Array): number | undefined;
  /** `full`: the peer knows more than the base, and of JSON many take only what they know. */
  write(bytes: Uint8Array, full: boolean): Uint8Array;
}

export const protoJson: ProtoJson = {
  read(text, depth) {
    const decoded = decoder.decode(text);
    // An MCPMessage stands around what JSON-RPC counts.
    if (exceedsDepth(decoded, depth + 8)) throw malformed(`the message nests deeper than ${depth} levels`);
    if (holdsMore(decoded, MOST_VALUES)) throw tooManyValues();
    const json: unknown = JSON.parse(decoded);
    const message = fromJson(MCPMessageSchema, opened(MCPMessageSchema, json) as JsonValue, { registry, ignoreUnknownFields: true });
    for (const any of anysIn(reflect(MCPMessageSchema, message))) if (any.typeUrl === LIST) unmark(any);
    return toBinary(MCPMessageSchema, message);
  },
  id(text) {
    try {
      const { id } = JSON.parse(decoder.decode(text)) as JsonObject;
      return Number.isSafeInteger(Number(id)) && Number(id) > 0 ? Number(id) : undefined;
    } catch {
      return undefined;
    }
  },
  write(bytes, full) {
    const message = fromBinary(MCPMessageSchema, bytes);
    const reflected = reflect(MCPMessageSchema, message);
    if (!full) leaveBase(reflected);
    for (const any of anysIn(reflected)) {
      if (!isForeign(any.typeUrl)) continue;
      any.typeUrl += AS_BYTES;
      any.value = toBinary(BytesValueSchema, create(BytesValueSchema, { value: any.value }));
    }
    const named = (name: string, value: unknown): unknown =>
      name === "@type" && String(value).endsWith(AS_BYTES) ? String(value).slice(0, -AS_BYTES.length) : value;
    return encoder.encode(JSON.stringify(toJson(MCPMessageSchema, message, { registry }), named));
  },
};

function isForeign(url: string): boolean {
  return url !== "" && registry.getMessage(url.slice(url.lastIndexOf("/") + 1)) === undefined;
}

function* anysIn(message: ReflectMessage): Generator<Any> {
  if (message.desc.typeName === AnySchema.typeName) yield message.message as Any;
  for (const each of messagesIn(message)) yield* anysIn(each);
}

/** The messages in the fields of one, unless it has a JSON of its own. */
function* messagesIn(message: ReflectMessage): Generator<ReflectMessage> {
  if (isWellKnown(message.desc)) return;
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    const value: unknown = message.get(field);
    for (const each of isReflectList(value) ? value : [value]) if (isReflectMessage(each)) yield each;
  }
}

/** Takes out what was added to the base. */
function leaveBase(message: ReflectMessage): void {
  if (isWellKnown(message.desc)) return;
  for (const field of message.fields) if (field.number >= ADDED) message.clear(field);
  for (const each of messagesIn(message)) leaveBase(each);
}

function isWellKnown({ typeName }: DescMessage): boolean {
  return typeName.startsWith("google.protobuf.");
}

/** A peer with the schema writes the members of a message into its Any. Here there is none, so they are a JSON object like any other. */
function opened(desc: DescMessage, json: unknown): unknown {
  if (Array.isArray(json)) return json.map((each) => opened(desc, each));
  if (!isObject(json)) return json;
  if (desc.typeName === AnySchema.typeName) return openedAny(json);
  if (isWellKnown(desc)) return json;
  const changed = desc.fields.flatMap((field) =>
    field.message === undefined
      ? []
      : [field.jsonName, field.name].filter((name) => name in json).map((name) => [name, field.message] as const),
  );
  return { ...json, ...Object.fromEntries(changed.map(([name, message]) => [name, opened(message, json[name])])) };
}

function openedAny(json: JsonObject): JsonObject {
  const { "@type": url, ...members } = json;
  if (typeof url !== "string" || !isForeign(url)) return json;
  const { value = "", ...others } = members;
  if (typeof value === "string" && Object.keys(others).length === 0) return { "@type": LIST, value: [MARK, url, value] };
  return { "@type": STRUCT, value: members };
}

function unmark(any: Any): void {
  const [mark, url, value] = fromBinary(ListValueSchema, any.value).values.map(({ kind }) => kind.value);
  if (mark !== MARK) return;
  const bytes = octetsOf(String(value));
  if (bytes === undefined) throw malformed(`the value of ${url} is no base64`);
  any.typeUrl = String(url);
  any.value = bytes;
}
