import { create, setExtension } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FieldDescriptorProto_Label as Label,
  OneofOptionsSchema,
  type SourceCodeInfo_Location,
  SourceCodeInfo_LocationSchema,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { FieldRulesSchema, field as fieldExtension, Ignore, OneofRulesSchema, oneof as oneofExtension } from "../../codec/gen/validate.js";
import { type LockedMessage, type LockedMessages, own } from "../lock/lock.js";
import { number } from "../lock/number.js";
import { isJsonName, OVERFLOW, pascalCase, VARIANT } from "./names.js";
import type { FieldNote } from "./notes.js";
import { isCollection, type MessageShape, type Rules, type ScalarKind, type Shape } from "./shape.js";

/** A message with everything it consists of, and what the lock file has to keep. */
export interface Built {
  readonly message: DescriptorProto;
  readonly comments: readonly SourceCodeInfo_Location[];
  /** By the full name of the field. */
  readonly notes: ReadonlyMap<string, FieldNote>;
  readonly locked: Map<string, LockedMessage>;
  readonly imports: ReadonlySet<string>;
}

const scalarTypes: Record<ScalarKind, Type> = {
  string: Type.STRING,
  int32: Type.INT32,
  int64: Type.INT64,
  double: Type.DOUBLE,
  bool: Type.BOOL,
};
const wellKnown = { value: "google.protobuf.Value", struct: "google.protobuf.Struct", list: "google.protobuf.ListValue" } as const;
const STRUCT = "google/protobuf/struct.proto";
const VALIDATE = "buf/validate/validate.proto";

/** Builds the descriptor of a message. Every other message that it uses is nested in it, on one level. `path` is its place in the file. */
export function buildMessage(root: MessageShape, scope: string, path: readonly number[], before: LockedMessages | undefined): Built {
  const builder = new Builder(root, `${scope}.${root.name}`, before);
  return builder.run(path);
}

class Builder {
  readonly #root: MessageShape;
  readonly #name: string;
  readonly #before: LockedMessages | undefined;
  readonly #comments: SourceCodeInfo_Location[] = [];
  readonly #notes = new Map<string, FieldNote>();
  readonly #locked = new Map<string, LockedMessage>();
  readonly #imports = new Set<string>();

  constructor(root: MessageShape, name: string, before: LockedMessages | undefined) {
    this.#root = root;
    this.#name = name;
    this.#before = before;
  }

  run(path: readonly number[]): Built {
    const messages = reachable(this.#root);
    const message = this.#message(this.#root, path);
    const others = messages.filter((each) => each !== this.#root);
    // The entries of the root's own maps come first.
    for (const each of others) message.nestedType.push(this.#message(each, [...path, 3, message.nestedType.length]));
    return { message, comments: this.#comments, notes: this.#notes, locked: this.#locked, imports: this.#imports };
  }

  #fullName(message: MessageShape): string {
    return message === this.#root ? this.#name : `${this.#name}.${message.name}`;
  }

  #message(shape: MessageShape, path: readonly number[]): DescriptorProto {
    const needsOverflow = !shape.variants && (shape.open || shape.fields.some(isUnsaid));
    const types = shape.fields.map((field) => this.#typeText(field.shape));
    const numbered = number(shape, types, needsOverflow, own(this.#before, shape.key));
    this.#locked.set(shape.key, numbered.locked);
    const message = create(DescriptorProtoSchema, { name: shape.name });
    const properties = new Set(shape.fields.map(({ jsonName }) => jsonName));
    this.#comment(path, shape.comment);
    const { numbers = [], names = [] } = numbered.locked.reserved ?? {};
    message.reservedRange = numbers.map((start) => ({ $typeName: "google.protobuf.DescriptorProto.ReservedRange", start, end: start + 1 }));
    message.reservedName = [...names];
    for (const [index, field] of shape.fields.entries()) {
      const { name = "", number: at = 0 } = numbered.fields[index] ?? {};
      const proto = this.#field(message, name, at, field.shape, shape);
      proto.jsonName = isJsonName(field.jsonName) ? field.jsonName : freeName(name, properties);
      this.#addRules(proto, rulesOf(field.shape, field.required));
      this.#note(shape, name, field.jsonName, proto, field.shape.nullable, field.required);
      this.#comment([...path, 2, index], field.comment);
      message.field.push(proto);
    }
    if (shape.variants) this.#variant(message);
    if (numbered.overflow !== undefined) message.field.push(this.#overflow(message, shape, numbered.overflow));
    // Synthetic oneofs, which stand for presence, come after all others.
    for (const proto of message.field)
      if (proto.proto3Optional)
        proto.oneofIndex = message.oneofDecl.push({ $typeName: "google.protobuf.OneofDescriptorProto", name: `_${proto.name}` }) - 1;
    return message;
  }

  #note(shape: MessageShape, name: string, jsonName: string, proto: FieldDescriptorProto, nullable: boolean, required: boolean): void {
    const note: FieldNote = {
      ...(proto.jsonName === jsonName ? undefined : { property: jsonName }),
      ...(nullable ? { nullable: true as const } : undefined),
      ...(required ? { required: true as const } : undefined),
    };
    if (Object.keys(note).length > 0) this.#notes.set(`${this.#fullName(shape)}.${name}`, note);
  }

  #variant(message: DescriptorProto): void {
    const options = create(OneofOptionsSchema);
    setExtension(options, oneofExtension, create(OneofRulesSchema, { required: true }));
    this.#imports.add(VALIDATE);
    message.oneofDecl.push({ $typeName: "google.protobuf.OneofDescriptorProto", name: VARIANT, options });
    for (const proto of message.field) proto.oneofIndex = 0;
  }

  #overflow(message: DescriptorProto, shape: MessageShape, at: number): FieldDescriptorProto {
    const any: Shape = { kind: "map", of: { kind: "value", rules: {}, nullable: false }, rules: {}, nullable: false };
    const proto = this.#field(message, OVERFLOW, at, any, shape);
    proto.jsonName = freeName("additionalProperties", new Set(shape.fields.map(({ jsonName }) => jsonName)));
    if (!shape.open) {
      const names = shape.fields.filter(isUnsaid).map((field) => field.jsonName);
      this.#addRules(proto, { type: { case: "map", value: { keys: { type: { case: "string", value: { in: names } } } } } });
    }
    return proto;
  }

  #field(parent: DescriptorProto, name: string, at: number, shape: Shape, owner: MessageShape): FieldDescriptorProto {
    const proto = create(FieldDescriptorProtoSchema, {
      name,
      number: at,
      label: shape.kind === "repeated" || shape.kind === "map" ? Label.REPEATED : Label.OPTIONAL,
    });
    if (shape.kind === "map") {
      const entry = create(DescriptorProtoSchema, { name: `${pascalCase(name)}Entry`, options: { mapEntry: true } });
      entry.field.push(
        create(FieldDescriptorProtoSchema, { name: "key", number: 1, label: Label.OPTIONAL, type: Type.STRING, jsonName: "key" }),
      );
      entry.field.push(
        Object.assign(this.#typed(shape.of, create(FieldDescriptorProtoSchema, { name: "value", number: 2, label: Label.OPTIONAL })), {
          jsonName: "value",
        }),
      );
      parent.nestedType.push(entry);
      proto.type = Type.MESSAGE;
      proto.typeName = `.${this.#fullName(owner)}.${entry.name}`;
      return proto;
    }
    this.#typed(shape.kind === "repeated" ? shape.of : shape, proto);
    if (shape.kind !== "repeated" && !owner.variants) proto.proto3Optional = true;
    return proto;
  }

  #typed(shape: Shape, proto: FieldDescriptorProto): FieldDescriptorProto {
    switch (shape.kind) {
      case "message":
        proto.type = Type.MESSAGE;
        proto.typeName = `.${this.#fullName(shape.message)}`;
        break;
      case "value":
      case "struct":
      case "list":
        this.#imports.add(STRUCT);
        proto.type = Type.MESSAGE;
        proto.typeName = `.${wellKnown[shape.kind]}`;
        break;
      case "repeated":
      case "map":
        throw new Error("a collection of collections has no type in protobuf");
      default:
        proto.type = scalarTypes[shape.kind];
    }
    return proto;
  }

  #addRules(proto: FieldDescriptorProto, rules: Rules): void {
    if (Object.keys(rules).length === 0) return;
    proto.options = create(FieldOptionsSchema);
    setExtension(proto.options, fieldExtension, create(FieldRulesSchema, rules));
    this.#imports.add(VALIDATE);
  }

  #typeText(shape: Shape): string {
    switch (shape.kind) {
      case "repeated":
        return `repeated ${this.#typeText(shape.of)}`;
      case "map":
        return `map<string, ${this.#typeText(shape.of)}>`;
      case "message":
        return shape.message.name;
      case "value":
      case "struct":
      case "list":
        return wellKnown[shape.kind];
      default:
        return shape.kind;
    }
  }

  #comment(path: readonly number[], text: string): void {
    if (text === "") return;
    const leadingComments = text
      .split("\n")
      .map((line) => (line === "" ? "\n" : ` ${line}\n`))
      .join("");
    this.#comments.push(create(SourceCodeInfo_LocationSchema, { path: [...path], span: [0, 0, 0], leadingComments }));
  }
}

/** Whether a property has values that its field cannot hold: null besides absent, or an empty list besides none. */
function isUnsaid({ shape, required }: { readonly shape: Shape; readonly required: boolean }): boolean {
  if (shape.kind === "value") return false;
  if (isCollection(shape)) return shape.nullable || !required;
  return shape.nullable && !required;
}

function rulesOf(shape: Shape, required: boolean): Rules {
  if (isCollection(shape)) {
    // An absent list has no elements, and the rule would count them.
    const counts = shape.rules.type?.value as { minItems?: bigint; minPairs?: bigint } | undefined;
    const least = counts?.minItems ?? counts?.minPairs;
    return least !== undefined && (!required || shape.nullable) ? { ...shape.rules, ignore: Ignore.IF_ZERO_VALUE } : shape.rules;
  }
  const nullable = shape.nullable && shape.kind !== "value";
  return required && !nullable ? { ...shape.rules, required: true } : shape.rules;
}

function freeName(name: string, properties: ReadonlySet<string>): string {
  return properties.has(name) ? freeName(`${name}_`, properties) : name;
}

function reachable(root: MessageShape): MessageShape[] {
  const found = new Set([root]);
  for (const message of found)
    for (const { shape } of message.fields) {
      const of = shape.kind === "repeated" || shape.kind === "map" ? shape.of : shape;
      if (of.kind === "message") found.add(of.message);
    }
  return [...found];
}
