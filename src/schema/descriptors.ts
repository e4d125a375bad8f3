import { create, createFileRegistry, type DescMessage, type FileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as wkt from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate } from "../codec/gen/validate.js";
import { Fault, schemaLimits } from "../core/index.js";
import type { ConvertedTool } from "./convert/tool.js";
import { limitOf, weighDescriptors } from "./descriptor-weight.js";
import { limitData, SCHEMA_UNRESOLVED, type SchemaFaultOptions } from "./fault.js";

/** The messages of a descriptor set, by full name. */
export interface MessageSet {
  get(name: string): DescMessage | undefined;
  /** All messages of the files in the set itself, outer ones before nested ones. */
  [Symbol.iterator](): Iterator<DescMessage>;
}

/** Files that a set may leave out, because every reader has them. A copy in the set is ignored. */
const known: ReadonlyMap<string, wkt.FileDescriptorProto> = new Map(
  [
    wkt.file_google_protobuf_any,
    wkt.file_google_protobuf_api,
    wkt.file_google_protobuf_descriptor,
    wkt.file_google_protobuf_duration,
    wkt.file_google_protobuf_empty,
    wkt.file_google_protobuf_field_mask,
    wkt.file_google_protobuf_source_context,
    wkt.file_google_protobuf_struct,
    wkt.file_google_protobuf_timestamp,
    wkt.file_google_protobuf_type,
    wkt.file_google_protobuf_wrappers,
    file_buf_validate_validate,
  ].map((file) => [file.proto.name, file.proto]),
);

/** Whether every reader has a file of this name. */
export function isKnownFile(name: string): boolean {
  return known.has(name);
}

/** Reads a FileDescriptorSet: slim, or with all its imports. Throws a Fault if it is invalid or lacks a file. */
export function readDescriptorSet(bytes: Uint8Array): MessageSet {
  const { descriptorBytes } = schemaLimits;
  if (bytes.byteLength > descriptorBytes) throw unreadable(`it has more than ${descriptorBytes} bytes`, { limit: "descriptorBytes" });
  let files: readonly wkt.FileDescriptorProto[];
  try {
    weighDescriptors(bytes);
    files = fromBinary(wkt.FileDescriptorSetSchema, bytes).file;
  } catch (cause) {
    throw unreadable((cause as Error).message, { cause, ...limitOf(cause) });
  }
  const registry = fileRegistry(files);
  const given = new Set(files.map(({ name }) => name).filter((name) => !known.has(name)));
  const own = [...registry].filter((desc): desc is DescMessage => desc.kind === "message" && given.has(desc.file.proto.name));
  return { get: (name) => registry.getMessage(name), [Symbol.iterator]: () => own[Symbol.iterator]() };
}

/** Everything in the files and their imports. Throws a Fault if one is missing or wrong. */
export function fileRegistry(files: readonly wkt.FileDescriptorProto[]): FileRegistry {
  const { descriptorFiles } = schemaLimits;
  if (files.length > descriptorFiles) throw unreadable(`it has more than ${descriptorFiles} files`, { limit: "descriptorFiles" });
  const given = new Map(files.filter(({ name }) => !known.has(name)).map((file) => [file.name, file]));
  const ordered: wkt.FileDescriptorProto[] = [];
  const done = new Set<string>();
  // Without recursion, because the sender chooses how deep imports go.
  for (const { name } of files) {
    const path = [name];
    while (path.length > 0) {
      const top = path.at(-1) as string;
      const file = known.get(top) ?? given.get(top);
      if (file === undefined) throw unreadable(`it lacks the file ${top}`);
      const next = done.has(top) ? undefined : file.dependency.find((dependency) => !done.has(dependency));
      if (next !== undefined) {
        if (path.includes(next)) throw unreadable(`the file ${next} imports itself`);
        path.push(next);
        continue;
      }
      path.pop();
      if (!done.has(top)) ordered.push(file);
      done.add(top);
    }
  }
  try {
    return createFileRegistry(create(wkt.FileDescriptorSetSchema, { file: ordered }));
  } catch (cause) {
    throw unreadable((cause as Error).message, { cause });
  }
}

/** The files of converted tools as a slim FileDescriptorSet: without those that every reader has. */
export function descriptorSet(tools: Iterable<ConvertedTool>): Uint8Array {
  return toBinary(wkt.FileDescriptorSetSchema, create(wkt.FileDescriptorSetSchema, { file: [...tools].map(({ file }) => file) }));
}

function unreadable(why: string, options: SchemaFaultOptions = {}): Fault {
  return new Fault("invalid-params", `the descriptor set cannot be read: ${why}`, {
    rpcCode: SCHEMA_UNRESOLVED,
    data: { reason: "descriptors", ...limitData(options) },
    cause: options.cause,
  });
}
