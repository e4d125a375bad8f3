import { createServer as createHttp, type IncomingMessage } from "node:http";
import {
  constants,
  createServer as createHttp2,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { accountOf, bodyMsOf, defaultLimits, fixedTimeouts, type Limits } from "../../core/index.js";
import { timerMs } from "../../stream/index.js";
import { isDeno } from "../deno.js";
import { Watch } from "../grpc/keepalive.js";
import { kill } from "../grpc/kill.js";
import { isGrpc } from "../grpc/server.js";
import { PlainConnections } from "../http1/plain-connection.js";
import { CONCURRENT, SESSION_MEMORY_MB, WINDOW } from "../http2/bounds.js";
import { countedRequests } from "./counted-requests.js";
import type { Mount, NodeRequest, NodeResponse } from "./mount.js";
import { progressOf, type Stallable } from "./stalled.js";

export interface HttpServersOptions {
  readonly headersMs: number;
  readonly keepAliveMs: number;
  readonly limits?: Partial<Limits> | undefined;
  /** Whether there is only one connection, which is never closed for being idle or for its resets. */
  readonly single: boolean;
  /** Connections to be watched for stalls. */
  readonly connections: Set<Stallable>;
}

/** The HTTP/1.1 and HTTP/2 servers of a port. They do not listen themselves: they are given connections. */
export interface HttpServers {
  readonly http1: (socket: Socket, first?: Buffer) => void;
  readonly http2: (socket: Socket, first?: Buffer) => void;
  /** Closes idle connections. The others end after their last answer. */
  close(): void;
  destroy(): void;
}

/** Milliseconds after which a connection without a request is closed. */
const IDLE_MS = fixedTimeouts.idleConnectionMs;
/**
 * The burst of resets, and the rate per second after it. Node's own limits are a little higher, but at those it ignores the client and
 * keeps the socket open.
 */
const RESETS = 900;
const RESETS_PER_SECOND = 30;
/** Node supports these options; its types do not have them yet. */
const unlimitedResets: object = { streamResetBurst: 2 ** 31, streamResetRate: 2 ** 31 };

/** Gives each request to the mount that claims its path. */
export function httpServers(mounts: readonly Mount[], options: HttpServersOptions): HttpServers {
  const { headersMs, limits } = options;
  const headerBytes = limits?.headerBytes ?? defaultLimits.headerBytes;
  const counted = countedRequests(limits);
  const takers = mounts.filter((mount) => mount.request !== undefined);
  const request = (asked: NodeRequest, response: NodeResponse): void => ownerOf(takers, asked.url)?.request?.(asked, response);
  const http1 = createHttp(
    {
      maxHeaderSize: headerBytes,
      headersTimeout: timerMs(headersMs),
      requestTimeout: timerMs(bodyMsOf(headersMs)),
      keepAliveTimeout: IDLE_MS,
      connectionsCheckingInterval: Math.min(headersMs, fixedTimeouts.slowRequestsMs),
    },
    (asked, response) => {
      // Deno closes a connection that its server was given after the first answer, in which it says that it keeps it.
      if (isDeno) response.shouldKeepAlive = false;
      if (counted.request(asked, response)) request(asked, response);
    },
  );
  // The server never listens itself. This event starts its check for slow requests.
  http1.emit("listening");
  const give = (server: { emit(event: "connection", socket: Socket): boolean }) => (socket: Socket, first?: Buffer) => {
    server.emit("connection", socket);
    if (first === undefined) return;
    // The server reads these bytes again as if they had just arrived.
    socket.unshift(first);
    socket.resume();
  };
  const upgraders = mounts.filter((mount) => mount.upgrade !== undefined);
  if (upgraders.length > 0)
    http1.on("upgrade", (asked: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (/^websocket$/i.test(asked.headers.upgrade ?? "")) {
        if (counted.upgrade(asked, socket)) ownerOf(upgraders, asked.url)?.upgrade?.(asked, socket, head);
      } else give(http1)(socket as Socket, withoutUpgrade(asked, head));
    });
  const plain = new PlainConnections({
    headersMs,
    limits,
    take: (target) => ownerOf(takers, target)?.exchange,
    others: give(http1),
  });
  const sessions = new Set<ServerHttp2Session>();
  const http2 = createHttp2(
    {
      settings: { initialWindowSize: WINDOW, maxConcurrentStreams: CONCURRENT, maxHeaderListSize: headerBytes },
      maxSessionMemory: SESSION_MEMORY_MB,
      ...(options.single && unlimitedResets),
    },
    request,
  );
  const watches = new WeakMap<object, Watch>();
  // Node's listener of this event wraps every stream in a request and a response. gRPC streams bypass it.
  const compat = http2.listeners("stream") as ((...args: unknown[]) => void)[];
  const rpc = mounts.find((mount) => mount.rpc !== undefined);
  http2.removeAllListeners("stream");
  http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => {
    const called = rpc !== undefined && isGrpc(headers["content-type"]);
    if (!counted.stream(stream, rawHeaders, called)) return;
    if (called) return rpc.rpc?.(stream, headers, rawHeaders);
    const watch = watches.get(stream.session as object);
    watch?.add();
    stream.once("close", () => watch?.remove());
    for (const listener of compat) listener.call(http2, stream, headers, flags, rawHeaders);
  });
  http2.on("session", (session) => {
    sessions.add(session);
    const account = accountOf(session, limits, session.socket.remoteAddress);
    const stallable: Stallable = {
      unwritten: () => account.unwritten,
      taken: () => progressOf(session.socket),
      close: () => kill(session),
    };
    options.connections.add(stallable);
    // A client that answers no PING while it has open streams has gone. gRPC does its own check.
    const alive = { intervalMs: options.keepAliveMs, timeoutMs: 2 * options.keepAliveMs };
    const watch = new Watch(session, alive, () => kill(session));
    watches.set(session, watch);
    session.once("close", () => {
      sessions.delete(session);
      options.connections.delete(stallable);
      watch.stop();
    });
    session.setLocalWindowSize(WINDOW);
    if (options.single) session.on("error", () => {});
    else boundSession(session);
  });
  return {
    http1: (socket, first) => (first === undefined ? give(http1)(socket) : plain.take(socket, first)),
    http2: give(http2),
    close() {
      plain.close();
      http1.close();
      for (const session of sessions) session.close();
    },
    destroy() {
      for (const session of sessions) session.destroy();
    },
  };
}

/** The mount that a path belongs to, among those that take requests or upgrades. */
export function ownerOf(takers: readonly Mount[], url = "/"): Mount | undefined {
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  return takers.find((mount) => mount.claims?.(path) === true) ?? takers[0];
}

/**
 * The head of a request without its offer to upgrade, which a server may ignore. Some clients offer `h2c` with every request, and Node
 * treats such a request as an upgrade.
 */
function withoutUpgrade({ method, url, rawHeaders }: IncomingMessage, head: Buffer): Buffer {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!/^(upgrade|http2-settings|connection)$/i.test(rawHeaders[at] ?? "")) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]);
}

/** Closes a session whose client resets too many streams, or only holds the connection: no stream is open and nothing is sent. */
function boundSession(session: ServerHttp2Session): void {
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
