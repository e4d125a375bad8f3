import { create, type DescFile, type DescService, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type ServerReflectionRequest, ServerReflectionRequestSchema, ServerReflectionResponseSchema } from "../../../codec/gen/index.js";
import { grpcStatuses } from "../../../core/index.js";
import type { ServerCall } from "../../../io/index.js";
import { Files } from "./files.js";
import { read } from "./read.js";

type ReflectionAnswer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/** Server reflection for the services. `v1` and `v1alpha` differ only in their names: their bytes are the same. */
export function reflectionService(services: readonly DescService[]): (call: ServerCall) => Promise<void> {
  const files = new Files(services);
  return async (call) => {
    const sent = new Set<DescFile>();
    for await (const batch of call.messages) {
      for (const bytes of batch) {
        const originalRequest = read(ServerReflectionRequestSchema, bytes);
        const messageResponse = answer(files, services, originalRequest, sent);
        const response = create(ServerReflectionResponseSchema, { validHost: originalRequest.host, originalRequest, messageResponse });
        const waiting = call.send(toBinary(ServerReflectionResponseSchema, response));
        if (waiting !== undefined) await waiting;
      }
    }
    call.end({ code: 0 });
  };
}

function answer(files: Files, services: readonly DescService[], request: ServerReflectionRequest, sent: Set<DescFile>): ReflectionAnswer {
  const { case: asked, value } = request.messageRequest;
  const described = (file: DescFile | undefined, what: string): ReflectionAnswer =>
    file === undefined ? missing(what) : { case: "fileDescriptorResponse", value: { fileDescriptorProto: files.serialised(file, sent) } };
  switch (asked) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: services.map(({ typeName }) => ({ name: typeName })) } };
    case "fileByFilename":
      return described(files.named(value), `no file ${JSON.stringify(value)} here`);
    case "fileContainingSymbol":
      return described(files.of(value), `no symbol ${JSON.stringify(value)} here`);
    case "fileContainingExtension": {
      const found = files.extensionsOf(value.containingType)?.find(({ number }) => number === value.extensionNumber);
      return described(found?.file, `no extension ${value.extensionNumber} of ${JSON.stringify(value.containingType)} here`);
    }
    case "allExtensionNumbersOfType": {
      const found = files.extensionsOf(value);
      if (found === undefined) return missing(`no message ${JSON.stringify(value)} here`);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName: value, extensionNumber: found.map(({ number }) => number) } };
    }
    default:
      return { case: "errorResponse", value: { errorCode: grpcStatuses["invalid-params"], errorMessage: "the request asks for nothing" } };
  }
}

function missing(what: string): ReflectionAnswer {
  return { case: "errorResponse", value: { errorCode: grpcStatuses["not-found"], errorMessage: what } };
}
