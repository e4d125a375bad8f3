import { create, createFileRegistry, type DescMethodStreaming, type DescMethodUnary, type DescService } from "@bufbuild/protobuf";
import { type BytesValue, BytesValueSchema, FileDescriptorProtoSchema, file_google_protobuf_wrappers } from "@bufbuild/protobuf/wkt";

/** The same three methods for every stack: bytes, for Connect in a BytesValue. */
export const SAME = "/bench.Echo/Same";
export const CHAT = "/bench.Echo/Chat";
/** As many chunks of 64 KiB as the request says. */
export const FLOOD = "/bench.Echo/Flood";
export const CHUNK: number = 64 * 1024;

export const service: DescService = describe();
export const same = service.method["same"] as DescMethodUnary;
export const chat = service.method["chat"] as DescMethodStreaming;

export const pack = (value: Uint8Array): BytesValue => create(BytesValueSchema, { value });

function describe(): DescService {
  const type = ".google.protobuf.BytesValue";
  const file = create(FileDescriptorProtoSchema, {
    name: "bench/echo.proto",
    package: "bench",
    syntax: "proto3",
    dependency: ["google/protobuf/wrappers.proto"],
    service: [
      {
        name: "Echo",
        method: [
          { name: "Same", inputType: type, outputType: type },
          { name: "Chat", inputType: type, outputType: type, clientStreaming: true, serverStreaming: true },
          { name: "Flood", inputType: type, outputType: type, serverStreaming: true },
        ],
      },
    ],
  });
  return createFileRegistry(file, () => file_google_protobuf_wrappers).getService("bench.Echo") as DescService;
}
