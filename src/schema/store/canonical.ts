import { createHash } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, type FileDescriptorSet, FileDescriptorSetSchema, SourceCodeInfoSchema } from "@bufbuild/protobuf/wkt";
import { schemaLimits } from "../../core/index.js";
import { limitOf, weighDescriptors } from "../descriptor-weight.js";
import { isKnownFile } from "../descriptors.js";
import { unresolved } from "./fault.js";

/** Descriptors in the one form that is hashed, kept and read. */
export interface CanonicalSet {
  readonly bytes: Uint8Array;
  /** In hexadecimal. */
  readonly sha256: string;
}

/**
 * The same descriptors always give the same bytes, whichever API or file they come from: files sorted by name, without those that every
 * reader has, without what an image adds, and with only the comments of the source info. Comments are hashed because models read them.
 */
export function canonicalSet(set: FileDescriptorSet): CanonicalSet {
  const file = set.file
    .filter((each) => !isKnownFile(each.name))
    .sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
    .map(slim);
  const bytes = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
  return { bytes, sha256: hashOf(bytes) };
}

export function parseSet(bytes: Uint8Array): FileDescriptorSet {
  checkSetBytes(bytes.byteLength, "the descriptors have");
  try {
    weighDescriptors(bytes);
    return fromBinary(FileDescriptorSetSchema, bytes);
  } catch (cause) {
    throw unresolved("descriptors", `the descriptors cannot be read: ${(cause as Error).message}`, { cause, ...limitOf(cause) });
  }
}

/** Throws the fault of a descriptor set that is too large. */
export function checkSetBytes(bytes: number, who: string): void {
  const max = schemaLimits.descriptorBytes;
  if (bytes > max) throw unresolved("too-large", `${who} more than ${max} bytes`, { limit: "descriptorBytes" });
}

export function hashOf(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function slim(file: FileDescriptorProto): FileDescriptorProto {
  const { $unknown: _, sourceCodeInfo, ...rest } = file;
  const location = (sourceCodeInfo?.location ?? [])
    .filter(({ leadingComments }) => leadingComments !== "")
    .map(({ path, leadingComments }) => ({ path, leadingComments, span: [0, 0, 0] }))
    // A compiler may list them in any order.
    .sort((one, other) => (one.path.join() < other.path.join() ? -1 : 1));
  const slimmed = rest as FileDescriptorProto;
  return location.length === 0 ? slimmed : { ...slimmed, sourceCodeInfo: create(SourceCodeInfoSchema, { location }) };
}
