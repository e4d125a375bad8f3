import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import {
  create,
  createFileRegistry,
  type DescMethodStreaming,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  toBinary,
} from "@bufbuild/protobuf";
import { type BytesValue, BytesValueSchema, FileDescriptorProtoSchema, file_google_protobuf_wrappers } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { compressionGzip, connectNodeAdapter, createGrpcTransport } from "@connectrpc/connect-node";
import type { Wrap } from "./ours.js";
import { type Call, type CallOptions, type Client, type End, HARD_MESSAGE, methods, Queue, type Server } from "./types.js";

/** The bytes travel in the one field of a BytesValue. */
export const bytesValue: Wrap = {
  wrap: (message) => toBinary(BytesValueSchema, create(BytesValueSchema, { value: message })),
  unwrap: (message) => fromBinary(BytesValueSchema, message).value,
};

const service = describeService();

function describeService(): DescService {
  const file = create(FileDescriptorProtoSchema, {
    name: "test/echo.proto",
    package: "test",
    syntax: "proto3",
    dependency: ["google/protobuf/wrappers.proto"],
    service: [
      {
        name: "Echo",
        method: Object.entries({ ...methods, Missing: "unary" }).map(([name, kind]) => ({
          name,
          inputType: ".google.protobuf.BytesValue",
          outputType: ".google.protobuf.BytesValue",
          clientStreaming: kind === "client" || kind === "bidi",
          serverStreaming: kind === "server" || kind === "bidi",
        })),
      },
    ],
  });
  const found = createFileRegistry(file, () => file_google_protobuf_wrappers).getService("test.Echo");
  if (found === undefined) throw new Error("no service");
  return found;
}

const pack = (value: Uint8Array): BytesValue => create(BytesValueSchema, { value });

export function connectClient(port: number): Client {
  const baseUrl = `http://127.0.0.1:${port}`;
  const options = { baseUrl, acceptCompression: [compressionGzip], readMaxBytes: 64 << 20 };
  const plain = createGrpcTransport(options);
  const gzipped = createGrpcTransport({ ...options, sendCompression: compressionGzip });
  return {
    name: "connect",
    call(name, { metadata = {}, timeoutMs, gzip = false }: CallOptions = {}): Call {
      const method = service.methods.find((each) => each.name === name);
      if (method === undefined) throw new Error(`no method ${name}`);
      const header = new Headers(
        Object.entries(metadata).flatMap(([key, values]) => values.map((value) => [key, value] as [string, string])),
      );
      const outgoing = new Queue<BytesValue>();
      const answers = new Queue<Uint8Array>();
      const controller = new AbortController();
      const transport = gzip ? gzipped : plain;
      const run = async (): Promise<End> => {
        let headers = new Headers();
        try {
          if (method.methodKind === "unary") {
            let message = pack(new Uint8Array());
            for await (const each of outgoing) message = each;
            const answer = await transport.unary(method as DescMethodUnary, controller.signal, timeoutMs, header, message);
            answers.push((answer.message as BytesValue).value);
            return { code: 0, message: "", headers: lists(answer.header), trailers: lists(answer.trailer) };
          }
          const answer = await transport.stream(method as DescMethodStreaming, controller.signal, timeoutMs, header, outgoing);
          headers = answer.header;
          for await (const message of answer.message) answers.push((message as BytesValue).value);
          return { code: 0, message: "", headers: lists(answer.header), trailers: lists(answer.trailer) };
        } catch (error) {
          const { code, rawMessage, metadata: trailers } = ConnectError.from(error);
          return { code, message: rawMessage, headers: lists(headers), trailers: lists(trailers) };
        } finally {
          answers.end();
        }
      };
      return {
        send: (message) => outgoing.push(pack(message)),
        done: () => outgoing.end(),
        cancel: () => controller.abort(),
        messages: answers,
        end: run(),
      };
    },
    async close() {},
  };
}

function lists(headers: Headers): Record<string, readonly string[]> {
  return Object.fromEntries(
    [...headers].map(([name, value]) => [name, value.split(", ").map((each) => (name.endsWith("-bin") ? each.replace(/=+$/, "") : each))]),
  );
}

export async function connectServer(): Promise<Server> {
  const hanging = { began: 0, cancelled: 0 };
  const say = (context: HandlerContext): void => {
    for (const [name, value] of context.requestHeader) {
      if (!name.startsWith("x-say")) continue;
      context.responseHeader.set(name, value);
      context.responseTrailer.set(name, value);
    }
  };
  const adapter = connectNodeAdapter({
    readMaxBytes: 64 << 20,
    routes: (router) =>
      router.service(service, {
        same(request: BytesValue, context: HandlerContext) {
          say(context);
          return request;
        },
        fail() {
          throw new ConnectError(HARD_MESSAGE, Code.FailedPrecondition, { "x-why-bin": "AAEC" });
        },
        async join(requests: AsyncIterable<BytesValue>) {
          const parts: Uint8Array[] = [];
          for await (const { value } of requests) parts.push(value);
          return pack(Buffer.concat(parts));
        },
        async *count({ value }: BytesValue) {
          for (let at = 0; at < Number(Buffer.from(value).toString()); at++) yield pack(Buffer.from(String(at)));
        },
        async *chat(requests: AsyncIterable<BytesValue>) {
          for await (const message of requests) yield message;
        },
        async *hang(_: AsyncIterable<BytesValue>, context: HandlerContext) {
          hanging.began++;
          await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
          hanging.cancelled++;
          // Its own timer may be the first to notice the deadline.
          throw context.signal.reason;
        },
      } as never),
  });
  const http2: Http2Server = createServer(adapter);
  const sessions = new Set<ServerHttp2Session>();
  http2.on("session", (session) => sessions.add(session));
  await new Promise<void>((resolve) => http2.listen(0, "127.0.0.1", resolve));
  return {
    name: "connect",
    port: (http2.address() as AddressInfo).port,
    hanging,
    close: async () => {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => http2.close(() => resolve()));
    },
  };
}
