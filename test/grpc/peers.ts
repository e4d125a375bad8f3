import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type DescMessage, fromBinary, type MessageInitShape, type MessageShape, create as make, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { createServer, progress, type Server } from "../../src/api/index.js";

/** A server with one tool of each kind; what runs is told. */
export function sample(): Server & { readonly calls: string[] } {
  const calls: string[] = [];
  const server = createServer({ name: "sample", version: "1" })
    .tool("echo", { description: "Echoes" }, ({ text }) => {
      calls.push("echo");
      return String(text);
    })
    .tool("count", {}, async function* ({ n }) {
      for (let at = 1; at <= Number(n); at++) yield progress(at, Number(n), `step ${at}`);
      return "counted";
    })
    .resource({ uri: "test://text", name: "text" }, () => "Hello")
    .tool("wait", {}, (_args, ctx) => {
      calls.push("wait");
      return new Promise((resolve) =>
        ctx.cancel.on(() => {
          calls.push("left");
          resolve("left");
        }),
      );
    });
  return Object.assign(server, { calls });
}

/** Calls of grpc-js by schema, without generated clients. */
export class Peer extends grpc.Client {
  constructor(address: string, credentials: grpc.ChannelCredentials = grpc.credentials.createInsecure()) {
    super(address.replace(/^(tunnel\+)?grpc:\/\//, ""), credentials);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  unary<In extends DescMessage, Out extends DescMessage>(
    path: string,
    [input, output]: readonly [In, Out],
    init: MessageInitShape<In>,
    metadata: grpc.Metadata = new grpc.Metadata(),
  ): Promise<MessageShape<Out>> {
    return new Promise((resolve, reject) => {
      this.makeUnaryRequest(path, serialise(input), parse(output), make(input, init), metadata, (error, message) =>
        error === null ? resolve(message as MessageShape<Out>) : reject(error),
      );
    });
  }

  stream<In extends DescMessage, Out extends DescMessage>(
    path: string,
    [input, output]: readonly [In, Out],
    init: MessageInitShape<In>,
    metadata: grpc.Metadata = new grpc.Metadata(),
  ): grpc.ClientReadableStream<MessageShape<Out>> {
    return this.makeServerStreamRequest(path, serialise(input), parse(output), make(input, init), metadata);
  }

  duplex<In extends DescMessage, Out extends DescMessage>(
    path: string,
    [input, output]: readonly [In, Out],
    metadata: grpc.Metadata = new grpc.Metadata(),
  ): grpc.ClientDuplexStream<MessageShape<In>, MessageShape<Out>> {
    return this.makeBidiStreamRequest(path, serialise(input), parse(output), metadata);
  }
}

function serialise<Desc extends DescMessage>(schema: Desc): (message: MessageShape<Desc>) => Buffer {
  return (message) => Buffer.from(toBinary(schema, message));
}

function parse<Desc extends DescMessage>(schema: Desc): (bytes: Buffer) => MessageShape<Desc> {
  return (bytes) => fromBinary(schema, bytes);
}

const buf = fileURLToPath(new URL("../../node_modules/@bufbuild/buf-linux-x64/bin/buf", import.meta.url));

/** What `buf curl` prints. */
export function bufCurl(...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(buf, ["curl", ...args], { cwd: "/tmp", timeout: 20_000 }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(stderr, { cause: error })),
    ).stdin?.end();
  });
}
