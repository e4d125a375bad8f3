import { createRegistry, type DescMethod, type DescService, type JsonReadOptions, type Message } from "@bufbuild/protobuf";
import { ListValueSchema, StructSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createConnectRouter, type HandlerContext, type MethodImpl } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { limitsOf } from "../../../core/index.js";
import type { GrpcListenOptions } from "../listen/options.js";
import { ConnectCall } from "./call.js";
import type { Handle } from "./options.js";

/** The highest threshold that Connect accepts, so that nothing is compressed. */
const NEVER = 0xffff_ffff;

export interface ConnectRoutes {
  /** Handlers by path. */
  readonly routes: ReadonlyMap<string, UniversalHandler>;
  /** Options for reading JSON messages. */
  readonly json: Partial<JsonReadOptions>;
}

/** Connect and gRPC-Web handlers on top of the handler of gRPC calls. */
export function connectRoutes(services: readonly DescService[], handle: Handle, options: GrpcListenOptions): ConnectRoutes {
  const limits = limitsOf(options.limits);
  // A level of JSON is up to three levels of protobuf: a Struct, its entry, and the Value in it.
  const recursionLimit = 3 * limits.depth + 32;
  const registry = createRegistry(ValueSchema, StructSchema, ListValueSchema, ...services.map(({ file }) => file));
  // Error data is a Value inside an Any.
  const json = { recursionLimit, registry };
  const router = createConnectRouter({
    grpc: false,
    acceptCompression: options.acceptGzip === false ? [] : [compressionGzip],
    ...(options.gzip === true ? undefined : { compressMinBytes: NEVER }),
    binaryOptions: { recursionLimit },
    jsonOptions: json,
  });
  for (const { methods } of services) for (const method of methods) router.rpc(method, implementation(method, handle, recursionLimit));
  return { routes: new Map(router.handlers.map((handler) => [handler.requestPath, handler])), json };
}

function implementation(method: DescMethod, handle: Handle, recursionLimit: number): MethodImpl<DescMethod> {
  const start = (requests: AsyncIterable<Message>, context: HandlerContext): AsyncGenerator<Message> => {
    const call = new ConnectCall(context, requests, { recursionLimit });
    void (async () => handle(call))().catch((error: unknown) => call.end({ code: Code.Internal, message: String(error) }));
    return call.responses();
  };
  const kinds = {
    unary: (request: Message, context: HandlerContext) => only(start(one(request), context)),
    server_streaming: (request: Message, context: HandlerContext) => start(one(request), context),
    client_streaming: (requests: AsyncIterable<Message>, context: HandlerContext) => only(start(requests, context)),
    bidi_streaming: start,
  };
  return kinds[method.methodKind] as MethodImpl<DescMethod>;
}

/** The one message of an answer, after its status is known to be OK. */
async function only(responses: AsyncIterable<Message>): Promise<Message> {
  let only: Message | undefined;
  for await (const response of responses) only = response;
  if (only === undefined) throw new ConnectError("the call ended without its answer", Code.Internal);
  return only;
}

async function* one(request: Message): AsyncGenerator<Message> {
  yield request;
}
