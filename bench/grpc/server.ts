import { createServer as createHttp2 } from "node:http2";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { BytesValue } from "@bufbuild/protobuf/wkt";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { grpcServer, port as openPort, type ServerCall } from "../../dist/io/index.js";
import { CHAT, CHUNK, FLOOD, SAME, service } from "./service.js";

// A child process of the bench: one server, or a proxy that delays. Sends its port, then its memory or CPU time when asked.

const [role = "", upstream = "", delayMs = ""] = process.argv.slice(2);
const chunk = Buffer.alloc(CHUNK, 7);

const roles: Readonly<Record<string, () => Promise<number>>> = { ours, "grpc-js": grpcJs, connect: connectNode, http2: bareHttp2, proxy };
const begin = roles[role];
if (begin === undefined) throw new Error(`no role ${role}`);
process.send?.(await begin());
process.on("message", (what) => {
  const { user, system } = process.cpuUsage();
  if (what === "memory") (globalThis as { gc?: () => void }).gc?.();
  process.send?.(what === "memory" ? process.memoryUsage.rss() : user + system);
});
process.on("disconnect", () => process.exit());

async function ours(): Promise<number> {
  const server = grpcServer(answer);
  const host = await openPort({ host: "127.0.0.1", port: 0 }, [
    { wire: "grpc", request: (_, response) => response.end(), rpc: (stream, headers, raw) => server.stream(stream, headers, raw) },
  ]);
  return host.port;
}

async function answer(call: ServerCall): Promise<void> {
  if (call.path === CHAT) {
    call.begin();
    for await (const batch of call.messages) {
      for (const message of batch) {
        const room = call.send(message);
        if (room !== undefined) await room;
      }
    }
  } else {
    let first: Uint8Array | undefined;
    for await (const batch of call.messages) first ??= batch[0];
    if (call.path === SAME) call.send(first as Uint8Array);
    else for (let left = Number(Buffer.from(first as Uint8Array).toString()); left > 0; left--) await call.send(chunk);
  }
  call.end({ code: 0 });
}

function grpcJs(): Promise<number> {
  const bytes = (value: Buffer): Buffer => value;
  const method = (path: string, requestStream: boolean, responseStream: boolean): grpc.MethodDefinition<Buffer, Buffer> => ({
    path,
    requestStream,
    responseStream,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  });
  const server = new grpc.Server({ "grpc.max_concurrent_streams": 4096 });
  server.addService(
    { same: method(SAME, false, false), chat: method(CHAT, true, true), flood: method(FLOOD, false, true) },
    {
      same: (call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) => done(null, call.request),
      chat: (call: grpc.ServerDuplexStream<Buffer, Buffer>) => {
        call.sendMetadata(new grpc.Metadata());
        call.on("data", (message: Buffer) => call.write(message));
        call.on("end", () => call.end());
        call.on("error", () => {});
      },
      flood: async (call: grpc.ServerWritableStream<Buffer, Buffer>) => {
        for (let left = Number(call.request.toString()); left > 0; left--) {
          if (!call.write(chunk)) await new Promise((resolve) => call.once("drain", resolve));
        }
        call.end();
      },
    },
  );
  return new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    ),
  );
}

async function connectNode(): Promise<number> {
  const routes = {
    same: (request: BytesValue) => request,
    async *chat(requests: AsyncIterable<BytesValue>) {
      for await (const request of requests) yield request;
    },
  };
  const server = createHttp2(connectNodeAdapter({ routes: (router) => router.service(service, routes as never), acceptCompression: [] }));
  return listen(server);
}

/** The chunks with nothing around them, and windows as ours. */
function bareHttp2(): Promise<number> {
  const window = 8 * 1024 * 1024;
  const server = createHttp2({ settings: { initialWindowSize: window } });
  server.on("session", (session) => session.setLocalWindowSize(window));
  server.on("stream", async (stream, headers) => {
    stream.respond({ ":status": 200 });
    for (let left = Number(headers["x-chunks"]); left > 0; left--) {
      if (!stream.write(chunk)) await new Promise((resolve) => stream.once("drain", resolve));
    }
    stream.end();
  });
  return listen(server);
}

/** Passes on each chunk that many milliseconds after it came, in either direction. */
function proxy(): Promise<number> {
  const pass = (from: Socket, to: Socket): void => {
    from.on("data", (data) => setTimeout(() => to.writable && to.write(data), Number(delayMs)));
    from.on("close", () => to.destroy());
    from.on("error", () => {});
  };
  const server = createServer({ noDelay: true }, (socket) => {
    const there = connect({ port: Number(upstream), host: "127.0.0.1", noDelay: true });
    pass(socket, there);
    pass(there, socket);
  });
  return listen(server);
}

async function listen(server: ReturnType<typeof createServer> | ReturnType<typeof createHttp2>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
