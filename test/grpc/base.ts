import { fileURLToPath } from "node:url";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

/** Where the base of the service lies: what peers compiled before Anywire. */
const folder = fileURLToPath(new URL("../fixtures/mcp/base", import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: messages of a loaded proto have no types
export type Message = any;

/** The base of the service for grpc-js. `defaults`: whether fields that did not come are filled in. */
export function baseService(defaults: boolean): grpc.ServiceClientConstructor {
  const definition = loadSync(`${folder}/mcp/v1/mcp.proto`, {
    keepCase: true,
    longs: Number,
    enums: String,
    defaults,
    oneofs: true,
    includeDirs: [folder],
  });
  const loaded = grpc.loadPackageDefinition(definition) as unknown as { mcp: { v1: { McpService: grpc.ServiceClientConstructor } } };
  return loaded.mcp.v1.McpService;
}

/** A client of another stack, which knows nothing of Anywire. */
export interface BaseClient extends Disposable {
  unary(method: string, request: object): Promise<Message>;
  stream(method: string, request: object): Promise<Message[]>;
  duplex(method: string): Message;
}

export function baseClient(address: string): BaseClient {
  const client = new (baseService(true))(address.slice("grpc://".length), grpc.credentials.createInsecure()) as unknown as Message;
  return {
    unary: (method, request) =>
      new Promise((resolve, reject) => {
        client[method](request, (error: unknown, reply: Message) => (error === null ? resolve(reply) : reject(error)));
      }),
    async stream(method, request) {
      const messages: Message[] = [];
      for await (const message of client[method](request)) messages.push(message);
      return messages;
    },
    duplex: (method) => client[method](),
    [Symbol.dispose]: () => client.close(),
  };
}

export interface BaseServer extends AsyncDisposable {
  readonly address: string;
  /** What each RPC was sent: its name and its request, without what is not there. */
  readonly seen: [string, Message][];
  /** The metadata of the RPCs. */
  readonly metadata: grpc.Metadata[];
}

/** A server of another stack, which knows nothing of Anywire. `answers` by RPC; one that streams gives an array. */
export async function baseServer(answers: Record<string, (request: Message) => object | readonly object[]>): Promise<BaseServer> {
  const server = new grpc.Server();
  const seen: [string, Message][] = [];
  const metadata: grpc.Metadata[] = [];
  const { service } = baseService(false);
  const handlers: grpc.UntypedServiceImplementation = {};
  const all: typeof answers = {
    Ping: () => ({}),
    Initialize: () => ({
      protocol_version: "2025-11-25",
      capabilities: { tools: {}, prompts: {} },
      server_info: { name: "s", version: "1" },
    }),
    ...answers,
  };
  for (const [name, answer] of Object.entries(all)) {
    handlers[name] = (call: Message, done?: (error: unknown, reply: object) => void) => {
      seen.push([name, JSON.parse(JSON.stringify(call.request))]);
      metadata.push(call.metadata);
      const given = answer(call.request);
      if (done !== undefined) return done(null, given);
      for (const message of given as readonly object[]) call.write(message);
      call.end();
    };
  }
  server.addService(service, handlers);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return {
    address: `grpc://127.0.0.1:${port}`,
    seen,
    metadata,
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
    },
  };
}
