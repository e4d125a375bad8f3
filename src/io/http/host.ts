import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import {
  constants,
  createServer as createHttp2,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTls } from "node:tls";
import { accountOf, defaultLimits, Fault, type Limits } from "../../core/index.js";
import { within } from "../../stream/index.js";
import { CONCURRENT, SESSION_MEMORY, WINDOW } from "../grpc/bounds.js";
import { Watch } from "../grpc/keepalive.js";
import { kill } from "../grpc/kill.js";

import { isGrpc } from "../grpc/server.js";
import { checkListen, type SecureListenOptions, serverTls } from "../tls.js";
import { closeStalled, progressOf, type Stallable } from "./stalled.js";
import { listenPrivately, removeStale } from "./unix-socket.js";

export interface HostOptions extends SecureListenOptions {
  readonly hostname: string;
  readonly port: number;
  /** A Unix socket in place of host and port. */
  readonly path?: string | undefined;
  request(request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void;
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Takes HTTP/2 requests of gRPC's content type, which then do not come to `request`. */
  grpc?(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: string[]): void;
  /** What checks the credentials of requests, if anything does. */
  readonly auth?: unknown;
  /** Milliseconds for the head of a request; four times that for the whole. 15,000 unless given. */
  readonly headersMs?: number | undefined;
  /** Milliseconds between signs of life on a connection of HTTP/2 that is in use; 15,000 unless given. One that answers none for twice that is closed. */
  readonly keepAliveMs?: number | undefined;
  readonly limits?: Partial<Limits> | undefined;
}

export interface Host {
  readonly port: number;
  /** Takes no more connections; those that are open go on. */
  stop(): void;
  /** Takes no more connections, and gives the answers that are ending a moment to arrive. */
  close(): Promise<void>;
}

/** Milliseconds of silence on a connection after which the system asks whether its peer is there. */
const tcpKeepAlive = { keepAlive: true, keepAliveInitialDelay: 15_000 };
const preface = Buffer.from("PRI * HTTP/2.0");
/** Milliseconds after which a connection without a request is closed. */
const IDLE_MS = 60_000;
const GRACE_MS = 250;
/** Resets at once, and then a second. Node's own limits are a little higher, and deaf to such a client it keeps the socket open. */
const RESETS = 900;
const RESETS_PER_SECOND = 30;

/** Listens for HTTP/1.1 and HTTP/2 on one port: the first bytes tell or, over TLS, what was agreed on. */
export async function httpHost(options: HostOptions): Promise<Host> {
  const { headersMs = 15_000, keepAliveMs = 15_000, tls } = options;
  if (options.path === undefined) checkListen(options.hostname, options);
  const secure = tls === undefined ? undefined : { ...serverTls(tls), ALPNProtocols: ["h2", "http/1.1"], handshakeTimeout: headersMs };
  const http1 = createHttp(
    {
      headersTimeout: headersMs,
      requestTimeout: 4 * headersMs,
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: Math.min(headersMs, 5_000),
    },
    options.request,
  );
  // It never listens itself; this event is what starts its watch over slow requests.
  http1.emit("listening");
  if (options.upgrade !== undefined) http1.on("upgrade", options.upgrade);
  const { grpc } = options;
  const http2 = createHttp2(
    { settings: { initialWindowSize: WINDOW, maxConcurrentStreams: CONCURRENT }, maxSessionMemory: SESSION_MEMORY },
    options.request,
  );
  if (grpc !== undefined) {
    // Node puts its request and response around every stream by a listener of this event: gRPC streams go past it.
    const compat = http2.listeners("stream") as ((...args: unknown[]) => void)[];
    http2.removeAllListeners("stream");
    http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => {
      if (isGrpc(headers["content-type"])) grpc(stream, headers, rawHeaders);
      else for (const listener of compat) listener.call(http2, stream, headers, flags, rawHeaders);
    });
  }
  const connections = new Set<Stallable>();
  const sessions = new Set<ServerHttp2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    const account = accountOf(session, options.limits);
    const stallable: Stallable = {
      unwritten: () => account.unwritten,
      taken: () => progressOf(session.socket),
      close: () => kill(session),
    };
    connections.add(stallable);
    session.once("close", () => {
      sessions.delete(session);
      connections.delete(stallable);
    });
    session.setLocalWindowSize(WINDOW);
    closeWhenIdle(session);
    // gRPC has its own.
    if (grpc === undefined) closeWhenDead(session, keepAliveMs);
  });
  const sockets = new Set<Socket>();
  /** Also of a socket that HTTP/2 takes over: its own account stays empty then. */
  const watched = (socket: Socket): void => {
    const account = accountOf(socket, options.limits);
    const stallable: Stallable = {
      unwritten: () => account.unwritten,
      taken: () => progressOf(socket),
      close: () => void socket.destroy(),
    };
    connections.add(stallable);
    socket.once("close", () => connections.delete(stallable));
  };
  const server: Server =
    secure === undefined
      ? createServer({ noDelay: true, ...tcpKeepAlive }, (socket) => {
          socket.on("error", () => socket.destroy());
          watched(socket);
          peek(socket, headersMs, (http2First) => (http2First ? http2 : http1));
        })
      : createTls({ ...secure, noDelay: true, ...tcpKeepAlive }, (socket) => {
          socket.on("error", () => socket.destroy());
          watched(socket);
          (socket.alpnProtocol === "h2" ? http2 : http1).emit("connection", socket);
        });
  // A handshake that fails leaves its connection open where it was only too slow.
  server.on("tlsClientError", (_error: Error, socket: Socket) => socket.destroy());
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  if (options.path !== undefined) await removeStale(options.path);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      http1.close();
      reject(listenFault(error, options));
    });
    if (options.path === undefined) server.listen(options.port, options.hostname, resolve);
    else listenPrivately(server, options.path, resolve);
  });
  const unwatch = closeStalled(connections, options.limits?.stalledMs ?? defaultLimits.stalledMs);
  let closed: Promise<void> | undefined;
  const stop = (): Promise<void> => (closed ??= new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    port: options.path === undefined ? (server.address() as AddressInfo).port : 0,
    stop: () => void stop(),
    async close() {
      const closed = stop();
      unwatch();
      http1.close();
      for (const session of sessions) session.close();
      if (await within(closed, GRACE_MS)) return;
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Gives a connection to the server that its first bytes are for. */
function peek(socket: Socket, ms: number, choose: (http2First: boolean) => { emit(event: "connection", socket: Socket): boolean }): void {
  const late = (): void => void socket.destroy();
  socket.setTimeout(ms, late);
  socket.once("data", (chunk) => {
    socket.pause();
    socket.setTimeout(0);
    socket.off("timeout", late);
    const http2First = chunk.length >= 3 && preface.subarray(0, chunk.length).equals(chunk.subarray(0, preface.length));
    // Either server reads what was peeked at as if it had just come.
    choose(http2First).emit("connection", socket);
    socket.unshift(chunk);
    socket.resume();
  });
}

/** A session that holds no stream and brings nothing is somebody who only holds a connection. */
function closeWhenIdle(session: ServerHttp2Session): void {
  let streams = 0;
  let resets = 0;
  let since = Date.now();
  session.on("stream", (stream) => {
    streams++;
    stream.once("close", () => {
      streams--;
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR) return;
      const now = Date.now();
      resets = Math.max(0, resets - ((now - since) * RESETS_PER_SECOND) / 1000) + 1;
      since = now;
      if (resets > RESETS && !session.destroyed) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
  });
  session.setTimeout(IDLE_MS, () => {
    if (streams === 0) session.close();
  });
}

/** A client that answers no PING while it has streams open is gone. */
function closeWhenDead(session: ServerHttp2Session, keepAliveMs: number): void {
  const watch = new Watch(session, { intervalMs: keepAliveMs, timeoutMs: 2 * keepAliveMs }, () => kill(session));
  session.on("stream", (stream) => {
    watch.add();
    stream.once("close", () => watch.remove());
  });
  session.once("close", () => watch.stop());
}

function listenFault(error: NodeJS.ErrnoException, { hostname, port, path }: HostOptions): Fault {
  // For a Unix socket the system says the same of a directory that is not there.
  const refused = path === undefined ? "not permitted" : "not permitted, or there is no such directory";
  const why = error.code === "EADDRINUSE" ? "it is in use" : error.code === "EACCES" ? refused : error.message;
  return new Fault("unavailable", `cannot listen on ${path ?? `${hostname}:${port}`}: ${why}`, {
    data: { reason: error.code ?? "failed" },
  });
}
