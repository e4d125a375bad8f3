import { create, type DescFile, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { McpService } from "../codec/gen/index.js";

/**
 * The file of the service in the set. Its folder is not that of its protobuf package: generators make Python modules of folders, and `mcp`
 * is what the official SDK is called.
 */
export const SERVICE_FILE = "anywire_mcp/v1/mcp.proto";

/** `mcp.v1`, and all that it imports, as a descriptor set. A protoc that is too old to read the text of the file takes this. */
export function serviceSet(): Uint8Array {
  const files = new Map<string, FileDescriptorProto>();
  const add = (file: DescFile): void => {
    if (files.has(file.proto.name)) return;
    for (const dependency of file.dependencies) add(dependency);
    files.set(file.proto.name, file.proto);
  };
  const { file: service } = McpService;
  for (const dependency of service.dependencies) add(dependency);
  const file = [...files.values(), create(FileDescriptorProtoSchema, { ...service.proto, name: SERVICE_FILE })];
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
}
