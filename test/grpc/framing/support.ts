import {
  connect as connectHttp2,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { Fault } from "../../../src/core/index.js";
import {
  type ClientCall,
  type GrpcServer,
  type GrpcServerOptions,
  grpcServer,
  port as openPort,
  type ServerCall,
} from "../../../src/io/index.js";

export interface Served {
  readonly port: number;
  readonly server: GrpcServer;
  /** As a good citizen: no new connections, then no new calls, then the end. */
  leave(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

export type Handle = (call: ServerCall) => void | Promise<void>;

/** Our framing behind our host. */
export async function serve(handle: Handle, { port = 0, ...options }: GrpcServerOptions & { port?: number } = {}): Promise<Served> {
  const server = grpcServer(handle, options);
  const host = await openPort({ host: "127.0.0.1", port }, [
    { wire: "grpc", request: (_, response) => response.end("plain"), rpc: (stream, headers, raw) => server.stream(stream, headers, raw) },
  ]);
  return {
    port: host.port,
    server,
    leave: async (graceMs) => {
      host.stop();
      await server.close(graceMs);
      await host.close();
    },
    close: async () => {
      await server.close(0);
      await host.close();
    },
  };
}

/** Sends back every message. */
export async function echo(call: ServerCall): Promise<void> {
  for await (const batch of call.messages) for (const message of batch) await call.send(message);
  call.end({ code: 0 });
}

/** Never answers, and never reads. */
export function hang(call: ServerCall): void {
  call.begin();
}

/** All that comes, then the fault if there is one. */
export async function collect(call: ClientCall): Promise<{ messages: Uint8Array[]; fault: Fault | undefined }> {
  const messages: Uint8Array[] = [];
  try {
    for await (const batch of call.messages) messages.push(...batch);
  } catch (error) {
    if (error instanceof Fault) return { messages, fault: error };
    throw error;
  }
  return { messages, fault: undefined };
}

export function frame(message: Uint8Array, flag = 0): Buffer {
  const bytes = Buffer.alloc(5 + message.length);
  bytes[0] = flag;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, 5);
  return bytes;
}

export interface Answer {
  readonly status: number;
  readonly grpcStatus: number | undefined;
  readonly message: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly rstCode: number;
}

/** A request of bare HTTP/2: `body` is sent as it is and then ended, unless it is left open. */
export async function post(port: number, body: readonly Uint8Array[], headers: OutgoingHttpHeaders = {}, open = false): Promise<Answer> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": "/t.T/M",
      te: "trailers",
      "content-type": "application/grpc",
      ...headers,
    });
    stream.on("error", () => {});
    let got: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    stream.on("response", (response) => {
      got = response;
    });
    stream.on("trailers", (response) => {
      trailers = response;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    for (const chunk of body) stream.write(chunk);
    if (!open) stream.end();
    await new Promise<void>((resolve) => {
      stream.on("close", resolve);
      if (open) stream.on("end", () => stream.close());
    });
    const grpcStatus = trailers["grpc-status"] ?? got["grpc-status"];
    const message = trailers["grpc-message"] ?? got["grpc-message"];
    return {
      status: Number(got[":status"]),
      grpcStatus: grpcStatus === undefined ? undefined : Number(grpcStatus),
      message: message as string | undefined,
      headers: got,
      body: Buffer.concat(chunks),
      rstCode: stream.rstCode,
    };
  } finally {
    session.destroy();
  }
}

export interface Bare {
  readonly port: number;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  close(): Promise<void>;
}

/** A server of bare HTTP/2, for answers that no gRPC server gives. */
export async function bare(
  answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  options: Parameters<typeof createServer>[0] = {},
): Promise<Bare> {
  const server = createServer(options ?? {});
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => {});
    session.once("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    answer(stream, headers);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    sessions,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}
