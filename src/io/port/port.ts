import { createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTls, type TLSSocket } from "node:tls";
import {
  accountOf,
  bodyMsOf,
  closable,
  defaultLimits,
  defaultTimeouts,
  Fault,
  fixedTimeouts,
  type Limits,
  type ListenAddress,
  type Listener,
  listenerOf,
  type WireOptions,
} from "../../core/index.js";
import { timerMs, within } from "../../stream/index.js";
import { offeredHttp } from "../deno.js";
import { peerOf } from "../grpc/peer.js";
import { tellRefused } from "../http/gate.js";
import { http2Server } from "../http2/server.js";
import { checkListen, isLoopback, type SecureListenOptions, serverTls } from "../tls.js";
import { tlsReason } from "../unreached.js";
import { authorityOf, bind, type Carrier, type NetworkCarrier, type Pipes } from "./carrier.js";
import { detect, isAnything, isHttp2, isTls, type Protocol } from "./detect.js";
import { type HttpServers, httpServers, ownerOf } from "./http-servers.js";
import type { Bound, Mount } from "./mount.js";
import { closeStalled, progressOf, type Stallable } from "./stalled.js";

export interface PortOptions extends SecureListenOptions, Pick<WireOptions, "observe" | "wire"> {
  /** The check of credentials, if there is one. */
  readonly auth?: unknown;
  /**
   * Milliseconds for the first bytes of a connection, and for the head of a request; 15,000 unless given. The whole request has four times
   * as long.
   */
  readonly headersMs?: number | undefined;
  /**
   * Milliseconds between pings on an HTTP/2 connection that is in use; 15,000 unless given. A connection that answers none for twice as
   * long is closed.
   */
  readonly keepAliveMs?: number | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** Other mounts on the port: health checks, metrics. */
  readonly mounts?: readonly Mount[] | undefined;
  /** Whether clients may also come without TLS where that is safe: on loopback, or with `insecure`, and if clients need no certificate. */
  readonly plainToo?: boolean | undefined;
}

/** A carrier with everything that is mounted on it. */
export interface Port {
  /** The port that was chosen; 0 where there is none. */
  readonly port: number;
  /** `host:port`, if it has one. */
  readonly authority: string | undefined;
  readonly addresses: readonly ListenAddress[];
  /** Resolves when its only stream has ended, or when it was closed. */
  readonly ended: Promise<void>;
  /** Accepts no more connections. Open ones continue. */
  stop(): void;
  /** Drains all mounts together, then closes every connection. Final answers have a moment to arrive. */
  close(): Promise<void>;
}

const tcpKeepAlive = { keepAlive: true, keepAliveInitialDelay: fixedTimeouts.tcpKeepAliveMs };

/** Puts mounts on a carrier: binds, handles TLS, tells protocols apart, and drains. If it cannot listen, the mounts are closed. */
export async function port(carrier: Carrier, wires: readonly Mount[], options: PortOptions = {}): Promise<Port> {
  const mounts = [...wires, ...(options.mounts ?? [])];
  try {
    if ("input" in carrier) return pipesPort(carrier, mounts, options);
    return await ("stream" in carrier ? streamPort(carrier.stream, mounts, options) : networkPort(carrier, mounts, options));
  } catch (error) {
    for (const mount of mounts) void mount.close?.();
    throw error;
  }
}

/** A port as a listener, with the address of its first mount unless another is given. */
export function portListener(opened: Port, address: string = opened.addresses[0]?.address ?? ""): Listener {
  return { ...listenerOf(address, () => opened.close(), opened.ended), addresses: opened.addresses };
}

async function networkPort(carrier: NetworkCarrier, mounts: readonly Mount[], options: PortOptions): Promise<Port> {
  const { headersMs = defaultTimeouts.headersMs, tls, limits } = options;
  if ("host" in carrier) checkListen(carrier.host, options);
  const connections = new Set<Stallable>();
  const http = mounts.some(({ request, rpc }) => request !== undefined || rpc !== undefined)
    ? httpServers(mounts, {
        headersMs,
        keepAliveMs: options.keepAliveMs ?? defaultTimeouts.keepAliveMs,
        limits,
        connections,
        single: false,
      })
    : undefined;
  const table = protocols(mounts, http, options);
  const plainToo = tls === undefined || (options.plainToo === true && isSafe(carrier, options));
  /** Also counts a socket that HTTP/2 takes over. Its own account stays empty then. */
  const accept = (socket: Socket): void => {
    const account = accountOf(socket, limits, socket.remoteAddress);
    const stallable: Stallable = {
      unwritten: () => account.unwritten,
      taken: () => progressOf(socket),
      close: () => void socket.destroy(),
    };
    connections.add(stallable);
    socket.once("close", () => connections.delete(stallable));
  };
  // gRPC is nothing without HTTP/2.
  const alpn = mounts.some(({ rpc }) => rpc !== undefined) ? ["h2", "http/1.1"] : offeredHttp;
  const secure =
    tls === undefined
      ? undefined
      : tlsServer(tls, { http, table, headersMs, alpn, accept, refused: (fault) => tellRefused(options, fault) });
  const plain: readonly Protocol[] = secure === undefined ? table : [{ detect: isTls, take: secure.again }, ...table];
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true, ...tcpKeepAlive }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    if (secure !== undefined && !plainToo) return secure.take(socket);
    accept(socket);
    detect(socket, plain, headersMs);
  });
  const chosen = await bind(server, carrier).catch((error) => {
    http?.close();
    throw error;
  });
  const unwatch = closeStalled(connections, limits?.stalledMs ?? defaultLimits.stalledMs);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= new Promise<void>((resolve) => server.close(() => resolve())));
  const bound: Bound =
    "path" in carrier ? { secure: false, path: carrier.path } : { secure: tls !== undefined, authority: authorityOf(carrier.host, chosen) };
  const end = async (): Promise<void> => {
    if (!mounts.some((mount) => mount.connectsWhileDraining === true)) void stop();
    await Promise.all(mounts.map((mount) => mount.close?.()));
    const closed = stop();
    unwatch();
    http?.close();
    if (await within(closed, fixedTimeouts.lastAnswersMs)) return;
    http?.destroy();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return portOf({ port: chosen, authority: bound.authority, addresses: addressesOf(mounts, bound) }, { stop: () => void stop(), end });
}

/** A port that is a single HTTP/2 connection. */
function streamPort(stream: Duplex, mounts: readonly Mount[], options: PortOptions): Port {
  const { headersMs = defaultTimeouts.headersMs, keepAliveMs = Number.POSITIVE_INFINITY, limits } = options;
  const http = httpServers(mounts, { headersMs, keepAliveMs, limits, connections: new Set(), single: true });
  const closed = new Promise<void>((resolve) => stream.once("close", resolve));
  const made = singlePort(mounts, closed, { close: http.close, destroy: () => void stream.destroy() });
  // HTTP/2 needs no more than a plain duplex, but its types ask for a socket.
  http.http2(stream as Socket);
  return made;
}

/** The same without objects of Node: requests go to the mounts as exchanges. */
function pipesPort({ input, output }: Pipes, mounts: readonly Mount[], options: PortOptions): Port {
  let onClose = (): void => {};
  const closed = new Promise<void>((resolve) => {
    onClose = resolve;
  });
  const { headersMs = defaultTimeouts.headersMs, limits } = options;
  const server = http2Server(input, output, {
    limits,
    bodyMs: bodyMsOf(headersMs),
    take: (exchange) => ownerOf(mounts, exchange.path)?.exchange?.(exchange),
    onEnd: () => void made.close(),
    onClose,
  });
  const made = singlePort(mounts, closed, server);
  return made;
}

/** A port that ends with its only connection. */
function singlePort(mounts: readonly Mount[], closed: Promise<void>, connection: Pick<HttpServers, "close" | "destroy">): Port {
  const end = async (): Promise<void> => {
    await Promise.all(mounts.map((mount) => mount.close?.()));
    connection.close();
    if (!(await within(closed, fixedTimeouts.lastAnswersMs))) connection.destroy();
  };
  const made = portOf({ port: 0, authority: undefined, addresses: [] }, { stop() {}, end });
  void closed.then(() => made.close());
  return made;
}

function portOf(facts: Pick<Port, "port" | "authority" | "addresses">, { stop, end }: { stop(): void; end(): Promise<void> }): Port {
  const { closed, close } = closable(end);
  return { ...facts, ended: closed, stop, close };
}

function addressesOf(mounts: readonly Mount[], bound: Bound): readonly ListenAddress[] {
  return mounts.flatMap((mount) => mount.addresses?.(bound) ?? []);
}

/** The table of protocols, but for TLS. A byte stream that carries no credentials is for clients with a certificate where those are demanded. */
function protocols(mounts: readonly Mount[], http: HttpServers | undefined, { auth }: PortOptions): readonly Protocol[] {
  const own = mounts.flatMap(({ bytes }) => {
    if (bytes === undefined) return [];
    const take = (socket: Socket, first: Buffer): void => {
      const peer = peerOf({ socket });
      if (auth !== undefined && bytes.checksCredentials !== true && peer.certificate === undefined) return void socket.destroy();
      socket.unshift(first);
      bytes.take(socket, peer);
    };
    return [{ detect: bytes.detect, take }];
  });
  if (http === undefined) return own;
  return [...own, { detect: isHttp2, take: http.http2 }, { detect: isAnything, take: http.http1 }];
}

interface Inside {
  readonly http: HttpServers | undefined;
  readonly table: readonly Protocol[];
  readonly headersMs: number;
  readonly alpn: readonly string[];
  accept(socket: Socket): void;
  refused(fault: Fault): void;
}

/** Handles TLS handshakes. The protocol inside was negotiated there, or is detected by the next bytes. */
function tlsServer(
  tls: NonNullable<PortOptions["tls"]>,
  { http, table, headersMs, alpn, accept, refused }: Inside,
): { take(socket: Socket): void; again(socket: Socket, first: Buffer): void } {
  const agreed = http === undefined ? undefined : { ALPNProtocols: [...alpn] };
  const server = createTls({ ...serverTls(tls), ...agreed, handshakeTimeout: timerMs(headersMs) }, (socket: TLSSocket) => {
    socket.on("error", () => socket.destroy());
    accept(socket);
    if (socket.alpnProtocol === "h2") http?.http2(socket);
    else if (socket.alpnProtocol === "http/1.1") http?.http1(socket);
    else detect(socket, table, headersMs);
  });
  server.on("tlsClientError", (error: Error, socket: Socket) => {
    // A client that only hangs up, as probes do, is not refused.
    const reason = tlsReason(error);
    if (reason !== undefined) refused(new Fault("denied", `a TLS handshake failed: ${reason}`));
    // If a handshake fails because it was too slow, Node leaves the connection open.
    socket.destroy();
  });
  const take = (socket: Socket): void => void server.emit("connection", socket);
  return {
    take,
    again(socket, first) {
      // Before the handshake begins, because only then does it look for bytes that were already read.
      socket.unshift(first);
      take(socket);
    },
  };
}

/** Whether plain text beside TLS is safe: it lets in nobody who could not connect otherwise, and nobody can read along. */
function isSafe(carrier: NetworkCarrier, { insecure, tls }: PortOptions): boolean {
  if (tls?.requestClientCert === true) return false;
  return "path" in carrier || insecure === true || isLoopback(carrier.host);
}

/** The fault of a wire whose clients cannot send the required credentials. */
export function noCredentials(wire: string): Fault {
  return new Fault("invalid-params", `${wire} carries no credentials: give tls.requestClientCert, or leave auth out`, {
    data: { reason: "no-credentials" },
  });
}
