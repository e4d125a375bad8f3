import { connect as connectSocket, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { Fault, isObject } from "../../core/index.js";
import { codeOf, type Deferred, deferred, timerMs } from "../../stream/index.js";
import { AHEAD, NARROW } from "../http2/bounds.js";
import { type Http2Client, type Http2ClientSession, http2Client, NO_ERROR, nodeHttp2Client, type OpenHttp2 } from "../http2/index.js";
import { whyUnreached } from "../unreached.js";
import type { GrpcClientCall } from "./client-call.js";
import { type PingOptions, Watch } from "./keepalive.js";
import type { GrpcTarget } from "./types.js";

export interface GrpcConnectionOptions {
  readonly keepalive: PingOptions;
  readonly connectMs: number;
  readonly http2: Http2Client;
  /** The connection is ready for calls. */
  readonly onReady: (connection: GrpcConnection) => void;
  /** A call has ended, or the server has changed its settings: there may be room for another. */
  readonly onFree: () => void;
  /** The connection takes no more calls; open ones may still finish. Called once. */
  readonly onGone: (connection: GrpcConnection, fault: Fault, how: GoneReason) => void;
  /** Its last call has ended too. */
  readonly onClosed: (connection: GrpcConnection) => void;
}

/** Why a connection takes no more calls: lost, asked to leave by the server, or asked because of too many PINGs. */
export type GoneReason = "lost" | "asked" | "pinged";

/** One HTTP/2 connection to a target. */
export class GrpcConnection {
  readonly target: GrpcTarget;
  readonly since: number = Date.now();
  readonly #options: GrpcConnectionOptions;
  readonly #session: Http2ClientSession;
  readonly #watch: Watch;
  readonly #pseudo: { readonly scheme: string; readonly authority: string };
  #timer: NodeJS.Timeout | undefined;
  #state: "connecting" | "ready" | "gone" = "connecting";
  #error: Error | undefined;
  readonly #closed: Deferred = deferred();

  constructor(target: GrpcTarget, options: GrpcConnectionOptions) {
    this.target = target;
    this.#options = options;
    this.#pseudo = { scheme: "tls" in target && target.tls !== undefined ? "https" : "http", authority: authorityOf(target) };
    const client: OpenHttp2 = options.http2 === "node" ? nodeHttp2Client : http2Client;
    this.#session = client((read) => socketTo(target, read), {
      window: AHEAD,
      leastWindow: NARROW,
      onReady: this.#onReady,
      onSettings: options.onFree,
      onGoaway: this.#onGoaway,
      onLost: this.#onLost,
      onClose: this.#onClose,
    });
    this.#watch = new Watch(this.#session, options.keepalive, () => this.#lose(new Error("no answer to a PING")));
    this.#timer = setTimeout(() => this.#lose(new Error("connecting took too long")), timerMs(options.connectMs));
  }

  get calls(): number {
    return this.#watch.calls;
  }

  /** Whether the server allows another call. */
  get free(): boolean {
    return !this.#session.closed && this.#watch.calls < this.#session.concurrent;
  }

  start(call: GrpcClientCall): void {
    this.#watch.add();
    call.open(this.#session, this.#pseudo, this.#onCallClosed);
  }

  /** Resolves when the socket is closed. All calls must have ended. */
  close(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#session.destroy(), graceMs);
    if (this.#state === "connecting") this.#session.destroy();
    else this.#session.close();
    return this.#closed.promise.finally(() => clearTimeout(timer));
  }

  readonly #onCallClosed = (): void => {
    this.#watch.remove();
    this.#options.onFree();
  };

  readonly #onReady = (): void => {
    if (this.#state !== "connecting") return;
    clearTimeout(this.#timer);
    this.#state = "ready";
    this.#options.onReady(this);
  };

  readonly #onGoaway = (code: number, words: string): void => {
    this.#error ??= new Error(`the server said GOAWAY ${code} ${words}`.trimEnd());
    this.#gone(words === "too_many_pings" ? "pinged" : code === NO_ERROR ? "asked" : "lost");
  };

  readonly #onLost = (error: Error | undefined): void => {
    this.#error ??= error;
    this.#gone("lost");
  };

  readonly #onClose = (): void => {
    this.#watch.stop();
    this.#options.onClosed(this);
    this.#closed.resolve();
  };

  #lose(error: Error): void {
    this.#error ??= error;
    this.#session.destroy(error);
  }

  #gone(how: GoneReason): void {
    if (this.#state === "gone") return;
    clearTimeout(this.#timer);
    const before = this.#state === "connecting" ? "the connection to the server failed" : "the connection to the server was lost";
    this.#state = "gone";
    const fault = new Fault("unavailable", this.#error === undefined ? before : `${before}: ${whyUnreached(this.#error)}`, {
      data: { reason: reasonOf(this.#error) },
      cause: this.#error,
    });
    this.#options.onGone(this, fault, how);
  }
}

function reasonOf(error: Error | undefined): string {
  const reason = error instanceof Fault && isObject(error.data) ? error.data["reason"] : undefined;
  return typeof reason === "string" ? reason : (codeOf(error) ?? "connection-lost");
}

function authorityOf(target: GrpcTarget): string {
  if (target.authority !== undefined) return target.authority;
  if (!("host" in target)) return "localhost";
  return `${isIP(target.host) === 6 ? `[${target.host}]` : target.host}:${target.port}`;
}

/** Bytes that are read from a socket at a time, always into the same buffer. */
const READ_BYTES = 128 * 1024;

/** Connects, and passes incoming bytes to `read`, which must copy what it keeps. Without `read`, nobody reads the socket yet. */
function socketTo(target: GrpcTarget, read: ((bytes: Uint8Array) => void) | undefined): Duplex {
  if ("duplex" in target) return read === undefined ? target.duplex() : target.duplex().on("data", read);
  const socket = connectTo(target, read === undefined ? undefined : onreadOf(read));
  return read === undefined ? socket : socket.resume();
}

interface OnRead {
  readonly buffer: Uint8Array;
  readonly callback: (count: number, buffer: Uint8Array) => boolean;
}

function onreadOf(read: (bytes: Uint8Array) => void): OnRead {
  return {
    buffer: new Uint8Array(READ_BYTES),
    callback: (count, buffer) => {
      read(buffer.subarray(0, count));
      return true;
    },
  };
}

function connectTo(target: Exclude<GrpcTarget, { readonly duplex: unknown }>, onread: OnRead | undefined): Socket {
  if ("path" in target) return connectSocket({ path: target.path, onread });
  const { host, port, tls } = target;
  if (tls === undefined) return connectSocket({ host, port, noDelay: true, onread });
  // Node also supports this option for TLS; its types do not have it.
  const options: ConnectionOptions & { onread: OnRead | undefined } = { host, port, ALPNProtocols: ["h2"], ...tls, onread };
  if (options.servername === undefined && isIP(host) === 0) options.servername = host;
  const socket = connectTls(options);
  socket.setNoDelay(true);
  // A server without ALPN chooses nothing, but may still speak HTTP/2.
  socket.once("secureConnect", () => {
    const chosen = socket.alpnProtocol || "h2";
    if (chosen !== "h2")
      socket.destroy(new Fault("unavailable", `the server chose ${chosen} and not HTTP/2`, { data: { reason: "alpn" } }));
  });
  return socket;
}
