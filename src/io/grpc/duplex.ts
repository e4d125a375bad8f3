import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import { CONCURRENT, SESSION_MEMORY, WINDOW } from "./bounds.js";
import type { GrpcServer } from "./types.js";

export interface Duplexed {
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
}

/** Serves gRPC on one connection that is no socket, such as a process's own stdin and stdout. */
export function grpcDuplex(server: GrpcServer, duplex: Duplex): Duplexed {
  const http2 = createServer({
    settings: { initialWindowSize: WINDOW, maxConcurrentStreams: CONCURRENT },
    maxSessionMemory: SESSION_MEMORY,
  });
  http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) =>
    server.stream(stream, headers, rawHeaders),
  );
  const closed = new Promise<void>((resolve) => {
    http2.on("session", (session) => {
      session.setLocalWindowSize(WINDOW);
      session.on("error", () => {});
      session.once("close", () => resolve());
    });
    duplex.once("close", () => resolve());
  });
  http2.emit("connection", duplex);
  return { closed };
}
