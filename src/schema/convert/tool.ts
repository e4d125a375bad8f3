import { create, createFileRegistry, createRegistry, type DescFile, type DescMessage, type FileRegistry } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  file_google_protobuf_descriptor,
  file_google_protobuf_struct,
  SourceCodeInfo_LocationSchema,
} from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate } from "../../codec/gen/validate.js";
import { Fault, isObject, type JsonObject, toFault } from "../../core/index.js";
import { badSchema, SCHEMA_UNRESOLVED } from "../fault.js";
import type { LockedTool } from "../lock/lock.js";
import { withFormer } from "../lock/lock.js";
import { printFile } from "../print/print.js";
import { SchemaSource } from "../read/source.js";
import { commentOf } from "./comments.js";
import { type Built, buildMessage } from "./descriptor.js";
import { pascalCase, snakeCase } from "./names.js";
import type { FieldNote, Residual } from "./notes.js";
import type { MessageShape, Shape } from "./shape.js";
import { convertSchema } from "./shapes.js";

/** What a tool must provide to be converted. */
export interface ToolSchemas {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
}

export interface ConvertOptions {
  /** The protobuf package: `tools.search.v1`. */
  readonly package: string;
  /** Field numbers and names to keep. */
  readonly lock?: LockedTool | undefined;
  /** The file's name without `.proto`; made from the tool's name unless given. */
  readonly file?: string | undefined;
  /** Whether formats such as `email` become rules; true unless given. */
  readonly formats?: boolean;
}

/** One schema of a tool as a message. */
export interface ConvertedSchema {
  /** The original schema. */
  readonly schema: JsonObject;
  readonly message: DescMessage;
  /** Keywords that the message does not express: ajv has to enforce them. */
  readonly residual: readonly Residual[];
  readonly notes: ReadonlyMap<string, FieldNote>;
  /** Whether the schema is not of an object, so that its value is the field `value` of the message. */
  readonly wrapped: boolean;
}

export interface ConvertedTool {
  readonly name: string;
  /** The path of the file: `tools/search/v1/web_search.proto`. */
  readonly path: string;
  readonly file: FileDescriptorProto;
  readonly input: ConvertedSchema;
  readonly output?: ConvertedSchema;
  readonly lock: LockedTool;
  /** The file as text. */
  text(): string;
}

/** Files that every reader knows, so that a descriptor set may leave them out. */
export const knownFiles: readonly DescFile[] = [file_google_protobuf_struct, file_google_protobuf_descriptor, file_buf_validate_validate];

/** Converts the schemas of a tool to protobuf. Throws a Fault that names the tool, and the place of the problem in its schema. */
export function convertTool(tool: ToolSchemas, options: ConvertOptions): ConvertedTool {
  try {
    return converted(tool, options);
  } catch (error) {
    const fault = toFault(error);
    throw new Fault(fault.code, `the tool ${JSON.stringify(tool.name)} cannot be converted: ${fault.message}`, {
      rpcCode: fault.rpcCode ?? SCHEMA_UNRESOLVED,
      data: fault.data,
      cause: error,
    });
  }
}

function converted(tool: ToolSchemas, options: ConvertOptions): ConvertedTool {
  const { package: scope, lock } = options;
  const fileName = lock?.file ?? options.file ?? snakeCase(tool.name);
  const path = `${scope.replaceAll(".", "/")}/${fileName}.proto`;
  const input = side(asObject(tool.inputSchema), `${pascalCase(fileName)}Request`, options);
  const output = tool.outputSchema === undefined ? undefined : side(tool.outputSchema, `${pascalCase(fileName)}Response`, options);
  if (input.root.comment === "") input.root.comment = commentOf({ description: tool.description });
  const sides = output === undefined ? [input] : [input, output];
  const built = sides.map(({ root }, index) => buildMessage(root, scope, [4, index], index === 0 ? lock?.input : lock?.output));
  const head = create(SourceCodeInfo_LocationSchema, {
    path: [12],
    span: [0, 0, 0],
    leadingComments: ` The tool ${commentOf({ title: tool.name }).replaceAll("\n", " ")}. Written by anywire schema to-proto; field numbers are kept in anywire.lock.json.\n`,
  });
  const file = create(FileDescriptorProtoSchema, {
    name: path,
    package: scope,
    syntax: "proto3",
    dependency: [...new Set(built.flatMap(({ imports }) => [...imports]))].sort(),
    messageType: built.map(({ message }) => message),
    sourceCodeInfo: { location: [head, ...built.flatMap(({ comments }) => [...comments])] },
  });
  // Descriptors are made on demand, because the text alone does not need them.
  let registry: FileRegistry | undefined;
  const messageOf = (name: string): DescMessage => {
    registry ??= createFileRegistry(file, (dependency) => knownFiles.find((each) => `${each.name}.proto` === dependency));
    const message = registry.getMessage(`${scope}.${name}`);
    if (message === undefined) throw new Fault("internal", `the message ${name} was not made`);
    return message;
  };
  const result = ({ root, schema, residual, wrapped }: Side, { notes }: Built): ConvertedSchema => ({
    schema,
    residual,
    wrapped,
    notes,
    get message() {
      return messageOf(root.name);
    },
  });
  const [first, second] = built;
  const outputLock =
    second !== undefined
      ? { output: withFormer(second.locked, lock?.output) }
      : lock?.output === undefined
        ? undefined
        : { output: lock.output };
  return {
    name: tool.name,
    path,
    file,
    input: result(input, first as Built),
    ...(output === undefined ? undefined : { output: result(output, second as Built) }),
    lock: { file: fileName, input: withFormer((first as Built).locked, lock?.input), ...outputLock },
    text: () => printFile(file, printing()),
  };
}

let registry: ReturnType<typeof createRegistry> | undefined;
function printing(): ReturnType<typeof createRegistry> {
  registry ??= createRegistry(...knownFiles);
  return registry;
}

/** Arguments are an object, even if the schema does not say so. */
function asObject(schema: unknown): unknown {
  if (schema === undefined) return { type: "object" };
  return isObject(schema) && !("type" in schema || "$ref" in schema || "allOf" in schema) ? { ...schema, type: "object" } : schema;
}

interface Side {
  readonly schema: JsonObject;
  readonly root: MessageShape;
  readonly residual: readonly Residual[];
  readonly wrapped: boolean;
}

function side(schema: unknown, name: string, { formats = true }: ConvertOptions): Side {
  if (!isObject(schema)) throw badSchema("has to be an object", "");
  const { shape, residual } = convertSchema(new SchemaSource(schema), name, { formats });
  if (shape.kind === "message" && shape.message.key === "" && !shape.nullable)
    return { schema, root: shape.message, residual, wrapped: false };
  return { schema, root: wrapper(name, shape), residual, wrapped: true };
}

/** A message around what is not an object. */
function wrapper(name: string, shape: Shape): MessageShape {
  return {
    key: "#value",
    name,
    comment: "",
    fields: [{ jsonName: "value", shape, required: true, comment: "" }],
    open: false,
    variants: false,
  };
}
