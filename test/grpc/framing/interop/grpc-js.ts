import grpc from "@grpc/grpc-js";
import { type Call, type CallOptions, type Client, type End, HARD_MESSAGE, type Kind, methods, Queue, type Server } from "./types.js";

const same = (message: Uint8Array): Buffer => Buffer.from(message);
const parse = (message: Buffer): Buffer => message;
const limits = { "grpc.max_receive_message_length": 64 << 20, "grpc.max_send_message_length": 64 << 20 };

const definition = Object.fromEntries(
  Object.entries(methods).map(([name, kind]) => [
    name,
    {
      path: `/test.Echo/${name}`,
      requestStream: kind === "client" || kind === "bidi",
      responseStream: kind === "server" || kind === "bidi",
      requestSerialize: same,
      requestDeserialize: parse,
      responseSerialize: same,
      responseDeserialize: parse,
    },
  ]),
);

type Doing = { on(event: string, listener: (argument: never) => void): void; cancel(): void };

export function grpcJsClient(port: number): Client {
  const plain = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), limits);
  const gzipped = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
    ...limits,
    "grpc.default_compression_algorithm": grpc.compressionAlgorithms.gzip,
  });
  return {
    name: "grpc-js",
    call(method, { metadata, timeoutMs, gzip = false }: CallOptions = {}): Call {
      const client = gzip ? gzipped : plain;
      const path = `/test.Echo/${method}`;
      const sent = new grpc.Metadata();
      for (const [name, values] of Object.entries(metadata ?? {})) {
        for (const value of values) sent.add(name, name.endsWith("-bin") ? Buffer.from(value, "base64") : value);
      }
      const options = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
      const answers = new Queue<Uint8Array>();
      const kind: Kind = methods[method] ?? "unary";
      const answered = (_: unknown, value?: Buffer): void => void (value !== undefined && answers.push(value));
      let doing: Doing | undefined;
      const outgoing: Uint8Array[] = [];
      let end: (end: End) => void = () => {};
      const ended = new Promise<End>((resolve) => {
        end = resolve;
      });
      let headers: Record<string, string[]> = {};
      const watch = (begun: Doing): void => {
        doing = begun;
        begun.on("metadata", (got: grpc.Metadata) => {
          headers = read(got);
        });
        begun.on("data", (message: Buffer) => answers.push(message));
        begun.on("error", () => {});
        begun.on("status", ({ code, details, metadata: trailers }: grpc.StatusObject) => {
          // The answer of a unary call comes after its status.
          setImmediate(() => answers.end());
          end({ code, message: details, headers, trailers: read(trailers) });
        });
      };
      if (kind === "bidi") watch(client.makeBidiStreamRequest(path, same, parse, sent, options) as unknown as Doing);
      if (kind === "client") watch(client.makeClientStreamRequest(path, same, parse, sent, options, answered) as unknown as Doing);
      return {
        send(message) {
          if (kind === "bidi" || kind === "client") (doing as unknown as grpc.ClientWritableStream<Uint8Array>).write(message);
          else outgoing.push(message);
        },
        done() {
          const [message = new Uint8Array()] = outgoing;
          if (kind === "unary") watch(client.makeUnaryRequest(path, same, parse, message, sent, options, answered) as unknown as Doing);
          else if (kind === "server") watch(client.makeServerStreamRequest(path, same, parse, message, sent, options) as unknown as Doing);
          else (doing as unknown as grpc.ClientWritableStream<Uint8Array>).end();
        },
        cancel: () => doing?.cancel(),
        messages: answers,
        end: ended,
      };
    },
    async close() {
      plain.close();
      gzipped.close();
    },
  };
}

function read(metadata: grpc.Metadata): Record<string, string[]> {
  const values = (name: string): string[] =>
    metadata.get(name).map((value) => (typeof value === "string" ? value : value.toString("base64").replace(/=+$/, "")));
  return Object.fromEntries(Object.keys(metadata.getMap()).map((name) => [name, values(name)]));
}

export async function grpcJsServer(port = 0): Promise<Server> {
  const hanging = { began: 0, cancelled: 0 };
  const server = new grpc.Server({ ...limits, "grpc.default_compression_algorithm": grpc.compressionAlgorithms.gzip });
  const said = (metadata: grpc.Metadata): grpc.Metadata => {
    const back = new grpc.Metadata();
    for (const name of Object.keys(metadata.getMap()).filter((each) => each.startsWith("x-say"))) {
      for (const value of metadata.get(name)) back.add(name, value);
    }
    return back;
  };
  server.addService(definition, {
    Same(call: grpc.ServerUnaryCall<Buffer, Buffer>, answer: grpc.sendUnaryData<Buffer>) {
      call.sendMetadata(said(call.metadata));
      answer(null, call.request, said(call.metadata));
    },
    Fail(_: unknown, answer: grpc.sendUnaryData<Buffer>) {
      const metadata = new grpc.Metadata();
      metadata.set("x-why-bin", Buffer.from([0, 1, 2]));
      answer({ code: 9, details: HARD_MESSAGE, metadata });
    },
    Join(call: grpc.ServerReadableStream<Buffer, Buffer>, answer: grpc.sendUnaryData<Buffer>) {
      const parts: Buffer[] = [];
      call.on("data", (part: Buffer) => parts.push(part));
      call.on("end", () => answer(null, Buffer.concat(parts)));
    },
    Count(call: grpc.ServerWritableStream<Buffer, Buffer>) {
      for (let at = 0; at < Number(call.request.toString()); at++) call.write(Buffer.from(String(at)));
      call.end();
    },
    Chat(call: grpc.ServerDuplexStream<Buffer, Buffer>) {
      call.sendMetadata(new grpc.Metadata());
      call.on("data", (message: Buffer) => call.write(message));
      call.on("end", () => call.end());
    },
    Hang(call: grpc.ServerDuplexStream<Buffer, Buffer>) {
      hanging.began++;
      call.sendMetadata(new grpc.Metadata());
      call.on("cancelled", () => hanging.cancelled++);
      call.on("error", () => {});
      call.resume();
    },
  });
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error, at) =>
      error === null ? resolve(at) : reject(error),
    ),
  );
  return { name: "grpc-js", port: bound, hanging, close: async () => server.forceShutdown() };
}
