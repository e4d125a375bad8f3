import type { DescMessage, Message, Registry } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  type FieldDescriptorProto,
  FieldOptionsSchema,
  type FileDescriptorProto,
  FileOptionsSchema,
  FieldDescriptorProto_Label as Label,
  MessageOptionsSchema,
  MethodOptionsSchema,
  OneofOptionsSchema,
  type ServiceDescriptorProto,
  ServiceOptionsSchema,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { type ShortName, shortNames } from "./names.js";
import { optionTexts, quoted } from "./options.js";

type Path = readonly number[];

/** What is being printed, and where. */
interface Printing {
  readonly file: FileDescriptorProto;
  readonly comments: ReadonlyMap<string, string>;
  /** The entries of maps, by the type of their field. */
  readonly entries: ReadonlyMap<string, DescriptorProto>;
  readonly short: ShortName;
  readonly options: (options: Message | undefined, schema: DescMessage, scope: string) => string[];
}

const scalars: Partial<Record<Type, string>> = {
  [Type.DOUBLE]: "double",
  [Type.FLOAT]: "float",
  [Type.INT64]: "int64",
  [Type.UINT64]: "uint64",
  [Type.INT32]: "int32",
  [Type.FIXED64]: "fixed64",
  [Type.FIXED32]: "fixed32",
  [Type.BOOL]: "bool",
  [Type.STRING]: "string",
  [Type.BYTES]: "bytes",
  [Type.UINT32]: "uint32",
  [Type.SFIXED32]: "sfixed32",
  [Type.SFIXED64]: "sfixed64",
  [Type.SINT32]: "sint32",
  [Type.SINT64]: "sint64",
};

/**
 * A file descriptor as .proto text, with the comments of its source info. `registry` knows the extensions of options, and every type that a
 * name could refer to.
 */
export function printFile(file: FileDescriptorProto, registry: Registry): string {
  const types = messagesIn(file);
  const short = shortNames([
    file.package,
    ...types.keys(),
    ...enumNames(file, types),
    ...[...registry].flatMap((desc) => ("typeName" in desc ? [desc.typeName] : [])),
  ]);
  const printing: Printing = {
    file,
    comments: new Map(file.sourceCodeInfo?.location.map(({ path, leadingComments }) => [path.join(), leadingComments])),
    entries: new Map([...types].flatMap(([name, message]) => (message.options?.mapEntry === true ? [[`.${name}`, message]] : []))),
    short,
    options: (options, schema, scope) =>
      options === undefined ? [] : optionTexts(options, schema, registry, (full) => short(full, scope)),
  };
  const lines: string[] = [...commentOf(printing, [12]), `syntax = ${quoted(file.syntax === "" ? "proto2" : file.syntax)};`, ""];
  if (file.package !== "") lines.push(`package ${file.package};`, "");
  for (const dependency of [...file.dependency].sort()) lines.push(`import ${quoted(dependency)};`);
  if (file.dependency.length > 0) lines.push("");
  const options = printing.options(file.options, FileOptionsSchema, file.package);
  for (const option of options) lines.push(`option ${option};`);
  if (options.length > 0) lines.push("");
  lines.push(...extensions(printing, file.extension, [7], file.package));
  for (const [index, message] of file.messageType.entries()) lines.push(...messageLines(printing, message, [4, index], file.package), "");
  for (const [index, each] of file.enumType.entries()) lines.push(...enumLines(printing, each, [5, index], file.package), "");
  for (const [index, service] of file.service.entries()) lines.push(...serviceLines(printing, service, [6, index]), "");
  while (lines.at(-1) === "") lines.pop();
  return `${lines.join("\n")}\n`;
}

function messagesIn({ package: name, messageType }: FileDescriptorProto): Map<string, DescriptorProto> {
  const found = new Map<string, DescriptorProto>();
  const add = (message: DescriptorProto, scope: string): void => {
    const full = within(scope, message.name);
    found.set(full, message);
    for (const inner of message.nestedType) add(inner, full);
  };
  for (const message of messageType) add(message, name);
  return found;
}

function enumNames(file: FileDescriptorProto, messages: ReadonlyMap<string, DescriptorProto>): string[] {
  const inner = [...messages].flatMap(([full, { enumType }]) => enumType.map(({ name }) => within(full, name)));
  return [...inner, ...file.enumType.map(({ name }) => within(file.package, name))];
}

function messageLines(printing: Printing, message: DescriptorProto, path: Path, outer: string): string[] {
  const scope = within(outer, message.name);
  const body: string[] = printing.options(message.options, MessageOptionsSchema, scope).map((option) => `option ${option};`);
  body.push(...reservedLines(message));
  for (const { start, end } of message.extensionRange) body.push(`extensions ${range(start, end - 1)};`);
  const oneofs = new Set<number>();
  for (const [index, field] of message.field.entries()) {
    const at = field.oneofIndex;
    const isMember = at !== undefined && Object.hasOwn(field, "oneofIndex") && !field.proto3Optional;
    if (!isMember) body.push(...fieldLines(printing, field, [...path, 2, index], scope));
    else if (!oneofs.has(at)) {
      oneofs.add(at);
      body.push(...oneofLines(printing, message, at, path, scope));
    }
  }
  body.push(...extensions(printing, message.extension, [...path, 6], scope));
  for (const [index, nested] of message.nestedType.entries()) {
    if (nested.options?.mapEntry !== true) body.push("", ...messageLines(printing, nested, [...path, 3, index], scope));
  }
  for (const [index, each] of message.enumType.entries()) body.push("", ...enumLines(printing, each, [...path, 4, index], scope));
  return [...commentOf(printing, path), ...block(`message ${message.name}`, body)];
}

function oneofLines(printing: Printing, message: DescriptorProto, at: number, path: Path, scope: string): string[] {
  const oneof = message.oneofDecl[at];
  const body = printing.options(oneof?.options, OneofOptionsSchema, scope).map((option) => `option ${option};`);
  for (const [index, field] of message.field.entries())
    if (Object.hasOwn(field, "oneofIndex") && field.oneofIndex === at && !field.proto3Optional)
      body.push(...fieldLines(printing, field, [...path, 2, index], scope));
  return [...commentOf(printing, [...path, 8, at]), ...block(`oneof ${oneof?.name ?? ""}`, body)];
}

function fieldLines(printing: Printing, field: FieldDescriptorProto, path: Path, scope: string): string[] {
  const entry = field.label === Label.REPEATED && field.type === Type.MESSAGE ? printing.entries.get(field.typeName) : undefined;
  const options = printing.options(field.options, FieldOptionsSchema, scope);
  if (field.jsonName !== "" && field.jsonName !== camelCase(field.name)) options.unshift(`json_name = ${quoted(field.jsonName)}`);
  if (Object.hasOwn(field, "defaultValue"))
    options.unshift(`default = ${field.type === Type.STRING ? quoted(field.defaultValue) : field.defaultValue}`);
  const type = entry === undefined ? typeText(printing, field, scope) : mapText(printing, entry, scope);
  const head = `${entry === undefined ? label(printing, field) : ""}${type} ${field.name} = ${field.number}`;
  const lines = commentOf(printing, path);
  if (options.length === 0) lines.push(`${head};`);
  else if (options.length === 1) lines.push(`${head} [${options[0]}];`);
  else lines.push(`${head} [`, ...options.map((option, index) => `  ${option}${index + 1 < options.length ? "," : ""}`), "];");
  return lines;
}

function label({ file }: Printing, field: FieldDescriptorProto): string {
  if (field.label === Label.REPEATED) return "repeated ";
  if (field.label === Label.REQUIRED) return "required ";
  const isOneof = Object.hasOwn(field, "oneofIndex") && !field.proto3Optional;
  return field.proto3Optional || (file.syntax !== "proto3" && !isOneof) ? "optional " : "";
}

function typeText({ short }: Printing, field: FieldDescriptorProto, scope: string): string {
  return scalars[field.type] ?? short(field.typeName.slice(1), scope);
}

function mapText(printing: Printing, entry: DescriptorProto, scope: string): string {
  const [key, value] = entry.field;
  if (key === undefined || value === undefined) return "";
  return `map<${typeText(printing, key, scope)}, ${typeText(printing, value, scope)}>`;
}

function enumLines(printing: Printing, each: EnumDescriptorProto, path: Path, outer: string): string[] {
  const body = printing.options(each.options, EnumOptionsSchema, outer).map((option) => `option ${option};`);
  for (const { start, end } of each.reservedRange) body.push(`reserved ${range(start, end)};`);
  if (each.reservedName.length > 0) body.push(`reserved ${each.reservedName.map(quoted).join(", ")};`);
  for (const [index, value] of each.value.entries()) {
    const options = printing.options(value.options, EnumValueOptionsSchema, outer);
    body.push(...commentOf(printing, [...path, 2, index]));
    body.push(`${value.name} = ${value.number}${options.length === 0 ? "" : ` [${options.join(", ")}]`};`);
  }
  return [...commentOf(printing, path), ...block(`enum ${each.name}`, body)];
}

function serviceLines(printing: Printing, service: ServiceDescriptorProto, path: Path): string[] {
  const scope = within(printing.file.package, service.name);
  const body = printing.options(service.options, ServiceOptionsSchema, scope).map((option) => `option ${option};`);
  for (const [index, method] of service.method.entries()) {
    const side = (type: string, streaming: boolean): string => `(${streaming ? "stream " : ""}${printing.short(type.slice(1), scope)})`;
    const head = `rpc ${method.name}${side(method.inputType, method.clientStreaming)} returns ${side(method.outputType, method.serverStreaming)}`;
    const options = printing.options(method.options, MethodOptionsSchema, scope).map((option) => `option ${option};`);
    body.push(...commentOf(printing, [...path, 2, index]), ...(options.length === 0 ? [`${head};`] : block(head, options)));
  }
  return [...commentOf(printing, path), ...block(`service ${service.name}`, body)];
}

function extensions(printing: Printing, fields: readonly FieldDescriptorProto[], path: Path, scope: string): string[] {
  const lines: string[] = [];
  for (const extendee of new Set(fields.map((field) => field.extendee))) {
    const body = fields.flatMap((field, index) =>
      field.extendee === extendee ? fieldLines(printing, field, [...path, index], scope) : [],
    );
    lines.push(...block(`extend ${printing.short(extendee.slice(1), scope)}`, body), "");
  }
  return lines;
}

function reservedLines({ reservedRange, reservedName }: DescriptorProto): string[] {
  const lines: string[] = [];
  if (reservedRange.length > 0) lines.push(`reserved ${reservedRange.map(({ start, end }) => range(start, end - 1)).join(", ")};`);
  if (reservedName.length > 0) lines.push(`reserved ${reservedName.map(quoted).join(", ")};`);
  return lines;
}

/** The largest field number. */
const LAST = 536_870_911;

function range(start: number, last: number): string {
  return start === last ? `${start}` : `${start} to ${last >= LAST ? "max" : last}`;
}

function block(head: string, body: readonly string[]): string[] {
  const inner = body[0] === "" ? body.slice(1) : body;
  return inner.length === 0 ? [`${head} {}`] : [`${head} {`, ...inner.map((line) => (line === "" ? "" : `  ${line}`)), "}"];
}

function commentOf({ comments }: Printing, path: Path): string[] {
  const text = comments.get(path.join());
  if (text === undefined || text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `//${line}`.trimEnd());
}

/** The default JSON name of a field in protobuf. */
export function camelCase(name: string): string {
  return name.replace(/_+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? "");
}

function within(scope: string, name: string): string {
  return scope === "" ? name : `${scope}.${name}`;
}
